import json
import os
import sys
import urllib.request

URL = "https://api.linear.app/graphql"


def gql(query, variables=None):
    req = urllib.request.Request(
        URL,
        data=json.dumps({"query": query, "variables": variables or {}}).encode(),
        headers={
            "Authorization": os.environ["LINEAR_API_KEY"],
            "Content-Type": "application/json",
        },
    )
    with urllib.request.urlopen(req, timeout=15) as r:
        return json.load(r)["data"]


if __name__ == "__main__":
    if sys.argv[1] == "teams":
        for t in gql("{ teams { nodes { id name } } }")["teams"]["nodes"]:
            print(t["id"], t["name"])
    elif sys.argv[1] == "search":
        q = "query($t: String!) { searchIssues(term: $t) { nodes { identifier title url } } }"
        for i in gql(q, {"t": sys.argv[2]})["searchIssues"]["nodes"]:
            print(i["identifier"], i["title"], i["url"])
