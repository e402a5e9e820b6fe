"""What every plugin of this repository shares; scripts/sync-common copies it byte for byte."""
