-- +goose Up
-- What was wrong with lines of imports was kept with the values: nobody can tell which are of a person who was forgotten since. What a
-- message quotes begins with its first quotation mark.
UPDATE import_rejects SET problems = (
    SELECT json_agg(json_build_object(
        'field', listed.problem ->> 'field',
        'code', listed.problem ->> 'code',
        'message', CASE WHEN strpos(listed.problem ->> 'message', '"') = 0 THEN listed.problem ->> 'message'
            ELSE left(listed.problem ->> 'message', strpos(listed.problem ->> 'message', '"') - 1) || '...' END
    ) ORDER BY listed.place)::text FROM json_array_elements(problems::json) WITH ORDINALITY AS listed (problem, place)
) WHERE strpos(problems, '\"') > 0;

-- Of what was sent instead of an id, the same is true.
UPDATE import_rejects SET item_id = '' WHERE item_id <> '' AND item_id !~ '^(cmp|cam)_[A-Za-z0-9_-]+$';
