#!/bin/sh
# A walk through the command line. Start `ottla up` in another window first; if it is not at
# localhost:9092, say where: OTTLA_BOOTSTRAP=host:port sh examples/command_line.sh
set -eu

ottla topics create orders --partitions 3 --config retention.ms=86400000 --if-not-exists

# Keys and values with a tab between them, from standard input.
printf 'tea\t{"id": 1}\ncoffee\t{"id": 2}\ntea\t{"id": 3}\n' |
    ottla produce orders --format '%k\t%v\n'

# Everything there is, one line a record.
ottla consume orders --exit --format '%p@%o %k %v\n'

# As a group: what was read is committed, so that the second call finds nothing new.
ottla consume orders --exit --group kitchen --format json
ottla consume orders --exit --group kitchen
ottla groups describe kitchen

# Read it all again.
ottla groups reset kitchen --to start
ottla consume orders --exit --group kitchen

# Copy a topic exactly: keys, headers, timestamps and all.
ottla topics create orders-copy --if-not-exists
ottla consume orders --exit --format json | ottla produce orders-copy --format json

ottla topics delete orders-copy
ottla status
