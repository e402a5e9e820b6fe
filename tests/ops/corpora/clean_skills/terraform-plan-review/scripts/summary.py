#!/usr/bin/env python3
"""Summarises a terraform plan (JSON): create, update, delete, replace."""
import collections
import json
import sys

plan = json.load(open(sys.argv[1], encoding="utf-8"))
groups = collections.defaultdict(list)
for rc in plan.get("resource_changes", []):
    actions = rc["change"]["actions"]
    kind = "replace" if len(actions) == 2 else actions[0]
    groups[kind].append(rc["address"])

for kind in ("delete", "replace", "update", "create"):
    if groups[kind]:
        print("%s (%d)" % (kind, len(groups[kind])))
        for a in groups[kind]:
            print("  ", a)

text = json.dumps(plan.get("planned_values", {}))
if "0.0.0.0/0" in text:
    print("WARNING: something is open to the world (0.0.0.0/0)")
sys.exit(1 if groups["delete"] or groups["replace"] else 0)
