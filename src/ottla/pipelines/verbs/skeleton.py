"""A pipeline file to begin with: it runs beside `ottla up` as it is."""

from __future__ import annotations

SKELETON = """\
# Every key: docs/reference/pipelines.md
spark: {{master: "local[2]"}}
clusters: {{main: "{servers}"}}
state: ./state              # checkpoints: keep this directory

pipelines:
  {topic}_lake:             # every record of the topic, in a table
    from:
      topics: [{topic}]
      value: {{json: "id bigint, item string, amount double, at timestamp"}}
    to: {{lake: ./lake/{topic}, format: {form}, hourly: at}}
    bad: {{topic: {topic}.bad, stop_above: 50%}}      # values that cannot be decoded
    late: {{after: 2h, topic: {topic}.late}}          # far behind the newest one
    every: 10s

  big_{topic}:              # some of them, in another topic
    from:
      topics: [{topic}]
      value: {{json: "id bigint, item string, amount double, at timestamp"}}
    sql: SELECT CAST(id AS STRING) AS key, to_json(value) AS value FROM input WHERE amount > 1000
    to: {{topic: {topic}.big}}
    bad: {{topic: {topic}.bad}}
    every: 10s
"""


def skeleton(servers: str, topic: str, form: str) -> str:
    return SKELETON.format(servers=servers, topic=topic, form=form)
