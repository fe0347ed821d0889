package sqlstore

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"holdco/domain/access"
	"holdco/domain/budget"
	"holdco/domain/money"
)

// column maps a field of T to a column of a table. It is made by asText, asInteger and the others below.
type column[T any] struct {
	name string
	kind kind
	get  func(*T) any               // what the column holds: a string, an int64, or a *int64 where it may be NULL
	set  func(to *T, c *cell) error // the reverse

	permanent bool   // Save does not write it
	indexed   bool   // Save writes it only if it changes
	computed  bool   // it follows from the other columns
	readAs    string // the expression that is read instead of the column; empty: the column itself
	absent    bool   // the table has no such column
}

// fixed makes a column one that Save does not write.
func (c column[T]) fixed() column[T] {
	c.permanent = true
	return c
}

// inIndex declares that a column is part of an index, or of the condition of a partial one, and does not always change. Save leaves it
// out of an UPDATE unless it changes, because an engine writes to the indexes of every column that an UPDATE names.
func (c column[T]) inIndex() column[T] {
	c.indexed = true
	return c
}

// readFrom makes a column one of which an expression is read, in terms of the table. Add and Save still write the column.
func (c column[T]) readFrom(expression string) column[T] {
	c.readAs = expression
	return c
}

// onlyRead is readFrom for what is in other tables alone. Neither Add nor Save writes it.
func (c column[T]) onlyRead(expression string) column[T] {
	c = c.readFrom(expression).fixed()
	c.absent = true
	return c
}

// kind is the type of a column. Package sql scans into these types, and few others, without reflection.
type kind int

const (
	textKind kind = iota
	integerKind
	optionalKind
)

// zero is a value of the type in which the kind is written.
func (k kind) zero() any {
	switch k {
	case integerKind:
		return int64(0)
	case optionalKind:
		return (*int64)(nil)
	default:
		return ""
	}
}

// cell is one column of one row.
type cell struct {
	text     string
	integer  int64
	optional *int64
}

func (c *cell) dest(of kind) any {
	switch of {
	case integerKind:
		return &c.integer
	case optionalKind:
		return &c.optional
	default:
		return &c.text
	}
}

// asText keeps a string as it is.
func asText[T any, S ~string](name string, field func(*T) *S) column[T] {
	return column[T]{
		name: name, kind: textKind,
		get: func(of *T) any { return string(*field(of)) },
		set: func(to *T, c *cell) error { *field(to) = S(c.text); return nil },
	}
}

// asInteger keeps a number as it is.
func asInteger[T any, N ~int | ~int64](name string, field func(*T) *N) column[T] {
	return column[T]{
		name: name, kind: integerKind,
		get: func(of *T) any { return int64(*field(of)) },
		set: func(to *T, c *cell) error { *field(to) = N(c.integer); return nil },
	}
}

// asBoolean keeps true as 1 and false as 0.
func asBoolean[T any](name string, field func(*T) *bool) column[T] {
	return column[T]{
		name: name, kind: integerKind,
		get: func(of *T) any { return flag(*field(of)) },
		set: func(to *T, c *cell) error { *field(to) = c.integer == 1; return nil },
	}
}

// asMillis keeps a time as milliseconds since 1970.
func asMillis[T any](name string, field func(*T) *time.Time) column[T] {
	return column[T]{
		name: name, kind: integerKind,
		get: func(of *T) any { return millis(*field(of)) },
		set: func(to *T, c *cell) error { *field(to) = instant(c.integer); return nil },
	}
}

// asOptionalMillis is asMillis for a column that is NULL where the domain has the zero time.
func asOptionalMillis[T any](name string, field func(*T) *time.Time) column[T] {
	return column[T]{
		name: name, kind: optionalKind,
		get: func(of *T) any { return optionalMillis(*field(of)) },
		set: func(to *T, c *cell) error { *field(to) = optionalInstant(c.optional); return nil },
	}
}

// asSeconds keeps a duration in whole seconds.
func asSeconds[T any](name string, field func(*T) *time.Duration) column[T] {
	return column[T]{
		name: name, kind: integerKind,
		get: func(of *T) any { return int64(*field(of) / time.Second) },
		set: func(to *T, c *cell) error { *field(to) = time.Duration(c.integer) * time.Second; return nil },
	}
}

// asLimit keeps a limit as an amount, and none as NULL.
func asLimit[T any](name string, field func(*T) *budget.Limit) column[T] {
	return column[T]{
		name: name, kind: optionalKind,
		get: func(of *T) any {
			if limit := *field(of); limit.IsSet {
				return new(int64(limit.USD))
			}
			return (*int64)(nil)
		},
		set: func(to *T, c *cell) error {
			*field(to) = budget.Limit{}
			if c.optional != nil {
				*field(to) = budget.Of(money.USD(*c.optional))
			}
			return nil
		},
	}
}

// asWords keeps a list separated by spaces, which no item contains.
func asWords[T any, S ~string](name string, field func(*T) *[]S) column[T] {
	return column[T]{
		name: name, kind: textKind,
		get: func(of *T) any {
			list := make([]string, len(*field(of)))
			for i, word := range *field(of) {
				list[i] = string(word)
			}
			return strings.Join(list, " ")
		},
		set: func(to *T, c *cell) error {
			*field(to) = nil
			for word := range strings.FieldsSeq(c.text) {
				*field(to) = append(*field(to), S(word))
			}
			return nil
		},
	}
}

// asJSONList keeps a list as JSON, an empty one as [].
func asJSONList[T any](name string, field func(*T) *[]string) column[T] {
	return column[T]{
		name: name, kind: textKind,
		get: func(of *T) any {
			encoded, _ := json.Marshal(append([]string{}, *field(of)...)) // strings cannot fail
			return string(encoded)
		},
		set: func(to *T, c *cell) error { return json.Unmarshal([]byte(c.text), field(to)) },
	}
}

// derived is a column that is computed from the value, for queries. It is not read back.
func derived[T any](name string, from func(*T) string) column[T] {
	return column[T]{
		name: name, kind: textKind, computed: true,
		get: func(of *T) any { return from(of) },
		set: func(*T, *cell) error { return nil },
	}
}

// derivedInteger is derived for a number.
func derivedInteger[T any](name string, from func(*T) int64) column[T] {
	return column[T]{
		name: name, kind: integerKind, computed: true,
		get: func(of *T) any { return from(of) },
		set: func(*T, *cell) error { return nil },
	}
}

// derivedFlag is derived for a boolean, as of asBoolean.
func derivedFlag[T any](name string, from func(*T) bool) column[T] {
	return derivedInteger(name, func(of *T) int64 { return flag(from(of)) })
}

// credentialColumns are what a token and the key of a partner have in common.
func credentialColumns[T any](of func(*T) *access.Credential) []column[T] {
	return []column[T]{
		asText("hint", func(t *T) *string { return &of(t).Hint }),
		asText("hash", func(t *T) *string { return &of(t).Hash }).inIndex(),
		asText("old_hash", func(t *T) *string { return &of(t).OldHash }).inIndex(),
		asOptionalMillis("old_until", func(t *T) *time.Time { return &of(t).OldUntil }),
		asOptionalMillis("expires_at", func(t *T) *time.Time { return &of(t).ExpiresAt }).inIndex(),
		asOptionalMillis("revoked_at", func(t *T) *time.Time { return &of(t).RevokedAt }).inIndex(),
	}
}

// asScopes keeps scopes like asWords.
func asScopes[T any](name string, field func(*T) *access.Scopes) column[T] {
	return column[T]{
		name: name, kind: textKind,
		get: func(of *T) any { return strings.Join(field(of).Strings(), " ") },
		set: func(to *T, c *cell) error {
			for word := range strings.FieldsSeq(c.text) {
				scope, ok := access.ParseScope(word)
				if !ok {
					return fmt.Errorf("%q is not a scope", word)
				}
				*field(to) = append(*field(to), scope)
			}
			return nil
		},
	}
}
