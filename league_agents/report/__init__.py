"""What people read: match records, transcripts and tables, all of it derived from journals."""
