"""Checks of what agents leave behind: probes, toolsets."""
