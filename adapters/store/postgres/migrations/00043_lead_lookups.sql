-- +goose Up
-- Hashes of the domain and of the e-mail address of a lead, 11 bytes of base64 each, and the digest of the lead that they are of.
-- While a row has no hashes, or those of another digest, they are made of the document.
ALTER TABLE leads ADD COLUMN hashes TEXT COLLATE "C" NOT NULL DEFAULT '';
CREATE INDEX leads_without_hashes ON leads (key) WHERE removed_at IS NULL AND substr(hashes, 23) <> digest;
