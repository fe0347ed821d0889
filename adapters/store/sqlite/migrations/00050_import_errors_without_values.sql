-- +goose Up
-- What was wrong with lines of imports was kept with the values: nobody can tell which are of a person who was forgotten since. What a
-- message quotes begins with its first quotation mark.
UPDATE import_rejects SET problems = (
    SELECT json_group_array(json_object(
        'field', json_extract(listed.value, '$.field'),
        'code', json_extract(listed.value, '$.code'),
        'message', CASE WHEN instr(json_extract(listed.value, '$.message'), '"') = 0 THEN json_extract(listed.value, '$.message')
            ELSE substr(json_extract(listed.value, '$.message'), 1, instr(json_extract(listed.value, '$.message'), '"') - 1) || '...' END
    )) FROM json_each(import_rejects.problems) AS listed
) WHERE problems LIKE '%\"%';

-- Of what was sent instead of an id, the same is true.
UPDATE import_rejects SET item_id = ''
WHERE item_id <> '' AND (item_id GLOB '*[^A-Za-z0-9_-]*' OR NOT (item_id GLOB 'cmp_*' OR item_id GLOB 'cam_*'));
