"""The gather file system: its daemons started, stopped and asked (docs/guide/gasfs.md)."""
