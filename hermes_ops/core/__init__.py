"""What every watcher stands on: findings, incidents, the run ledger, actions, alerts, statistics, pages."""
