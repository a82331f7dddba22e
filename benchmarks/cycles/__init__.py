"""What a run and a warm rerun cost: seconds, memory and trials a second, beside cold runs and other tools."""
