"""The decision trees of docs/playbook, walked over the host's files; incidents in the form of autopsies."""
