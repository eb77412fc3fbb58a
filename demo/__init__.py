"""The main job in one command: a fleet, a broker, Spark, two kills, and books that balance.

make demo        (or: python -m demo)

scenario     how large the story is, by which names its parts meet
reports      what every truck reports: a pure function of the seed
generator    a process that sends the reports
application  a process, the Spark job: lake, latest positions, alerts
oracle       what must be found at the end: a pure function of the seed
checker      a process that reads everything back and compares it with the oracle
story        starts, kills and watches the processes, and tells about it
page         the HTML page about it
"""
