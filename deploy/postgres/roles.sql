-- The database of one service and its three login roles. Repeatable. Run by a superuser with psql 15 or newer:
--
--   TRANSFA_OWNER_PASSWORD=... TRANSFA_HANDLER_PASSWORD=... TRANSFA_WORKER_PASSWORD=... \
--   psql "$ADMIN_URL" -v database=transfa_auth -v owner=auth_owner -v handler=auth_handler -v worker=auth_worker \
--        -f deploy/postgres/roles.sql
--
-- The owner runs migrations and nothing else. Handler (HTTP) and worker (consumers, jobs) may only log in: what they can
-- read and write is granted table by table in the migrations.
\set ON_ERROR_STOP on
\getenv owner_password TRANSFA_OWNER_PASSWORD
\getenv handler_password TRANSFA_HANDLER_PASSWORD
\getenv worker_password TRANSFA_WORKER_PASSWORD

SELECT format('CREATE ROLE %I', name)
FROM unnest(ARRAY[:'owner', :'handler', :'worker']) AS name
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name)
\gexec

-- The passwords stand in these statements: whatever the server logs or counts, it is not these.
SET log_statement = 'none';
SET log_min_duration_statement = -1;
SET log_min_duration_sample = -1;
SET log_transaction_sample_rate = 0;
SET log_min_error_statement = 'panic';
SET pg_stat_statements.track = 'none';
ALTER ROLE :"owner" LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE PASSWORD :'owner_password';
ALTER ROLE :"handler" LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE PASSWORD :'handler_password';
ALTER ROLE :"worker" LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE PASSWORD :'worker_password';
RESET ALL;

-- template0 and never template1: nobody can be connected to it, so services can be created side by side.
SELECT format('CREATE DATABASE %I OWNER %I TEMPLATE template0', :'database', :'owner')
WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = :'database')
\gexec

REVOKE ALL ON DATABASE :"database" FROM PUBLIC;
GRANT CONNECT ON DATABASE :"database" TO :"owner", :"handler", :"worker";

\connect :"database"
ALTER SCHEMA public OWNER TO :"owner";
REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO :"handler", :"worker";
