import collections
import re
import sys

LINE = re.compile(r'(\S+) \S+ \S+ \[([^:]+):(\d+).*?\] "(\S+) (\S+)[^"]*" (\d{3})')

status = collections.Counter()
hours = collections.Counter()
errors = collections.Counter()

with open(sys.argv[1], errors="replace") as f:
    for line in f:
        m = LINE.match(line)
        if not m:
            continue
        ip, day, hour, method, path, code = m.groups()
        status[code] += 1
        hours[hour] += 1
        if code.startswith("5"):
            errors[path.split("?")[0]] += 1

print("status", dict(status))
print("by hour", sorted(hours.items()))
print("errors", errors.most_common(10))
