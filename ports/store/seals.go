package store

import "context"

// SealReader reads whatever is sealed with the key of the instance, in all places.
type SealReader interface {
	// After returns at most most sealed texts that come after one, in an order that stays as it is; the zero Seal is before the
	// first.
	After(ctx context.Context, after Seal, most int) ([]Seal, error)
}

// Seals reads and changes whatever is sealed with the key of the instance.
type Seals interface {
	SealReader

	// Replace puts another sealed text in the place of one, unless that has changed.
	Replace(ctx context.Context, one Seal, by string) error
}

// Seal is a sealed text.
type Seal struct {
	Place int    // which of the columns that hold sealed texts
	Owner string // what it is bound to
	Text  string
}

// SealIn seals a text to be kept in a unit of work, with the key that the store is bound to until the unit ends.
func SealIn(ctx context.Context, tx Tx, vault interface {
	Seal(fingerprint, owner, text string) (string, error)
}, owner, text string,
) (sealed string, err error) {
	fingerprint, err := tx.InstanceKey().Hold(ctx)
	if err != nil {
		return "", err
	}
	return vault.Seal(fingerprint, owner, text)
}
