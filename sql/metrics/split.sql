-- Words of each set and split.
SELECT "set" || '.' || split || '.words', coalesce(sum(words), 0) FROM splits JOIN documents USING ("set", paper_id) GROUP BY ALL
