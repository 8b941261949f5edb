"""Reports for people: match records, transcripts and tables, all derived from journals."""
