"""The main use case in one command: a fleet of trucks, a cluster, Spark, two crashes, verification.

make demo        (or: python -m demo)

scenario      the size of the run, and the names of topics and files
reports       the reports of each truck: a pure function of the seed
generator     a process that sends the reports
application   a process, the Spark job: lake, latest positions, alerts
expected      the expected results: a pure function of the seed
checker       a process that reads everything back and compares it with the expected results
orchestrator  starts, kills and monitors the processes
page          the HTML report
"""
