-- Jobs that wait for somebody to decide: few among very many that are done, and asked for every few seconds.
CREATE INDEX jobs_failed ON jobs (finished_at) WHERE state = 'failed';
