-- The seventh version: the number of the process that has written to a session last, so that
-- whoever wants to change what is behind its back can see that it is alive. 0: not known.
ALTER TABLE sessions ADD COLUMN writer INTEGER NOT NULL DEFAULT 0;
