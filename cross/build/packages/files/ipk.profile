# A person at the shell reads the journal that the terminal writes.
export POSAGENT_STATE=/srv/posagent
