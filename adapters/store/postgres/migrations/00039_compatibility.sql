-- +goose Up
-- Programs that know the migration of this version, or a later one, can work with the schema. A migration that takes away or renames
-- what the release before it still reads or writes sets it to its own version; the others leave it.
CREATE TABLE schema_compatibility (
    id              TEXT COLLATE "C" NOT NULL PRIMARY KEY CHECK (id = 'instance'),
    compatible_from BIGINT           NOT NULL
);
INSERT INTO schema_compatibility (id, compatible_from) VALUES ('instance', 39);
