"""The main use case in one command: a fleet of trucks, a cluster, Spark, two crashes, verification.

make demo        (or: python -m demo)

scenario      the size of the run, and the names of topics and files
reports       the reports of each truck: a pure function of the seed
generator     a process that sends the reports
pipelines     (.yaml) lake, latest positions, alerts: `ottla pipeline run` is their process
expected      the expected results: a pure function of the seed
checker       a process that reads everything back and compares it with the expected results
orchestrator  starts, kills and monitors the processes
audit         the product's audit of the same lake
verification  checker and audit, and whether they agree
sabotage      damage to the lake, which both must find
repair        the command that the audit prints, and another verification
page          the HTML report
"""
