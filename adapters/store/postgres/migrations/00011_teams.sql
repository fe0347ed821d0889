-- +goose Up
-- Units of one company lock one of these to run one after the other: LOCK TABLE takes no snapshot, and so causes no
-- serialization failures, unlike the lock of a row.
-- +goose StatementBegin
DO $$ BEGIN
    FOR n IN 0..15 LOOP
        EXECUTE format('CREATE TABLE turns_%s ()', to_char(n, 'FM00'));
    END LOOP;
END $$;
-- +goose StatementEnd

ALTER TABLE teams ADD COLUMN description TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE teams ADD COLUMN manager_id TEXT COLLATE "C" NOT NULL DEFAULT ''; -- an agent; empty: nobody
ALTER TABLE teams ADD COLUMN budget_usd BIGINT; -- NULL: no limit
ALTER TABLE teams ADD COLUMN version BIGINT NOT NULL DEFAULT 1;
CREATE INDEX teams_by_company ON teams (company_id, created_at, id);

DROP INDEX slots_by_team;
CREATE INDEX slots_by_team ON slots (team_id, created_at, id);
