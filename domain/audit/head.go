package audit

import (
	"bytes"
	"cmp"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/instant"
)

// Head is the newest link of a chain. The zero At is that of an empty chain.
type Head struct {
	Company id.Company // empty: the chain of the entries without a company
	Link
	At time.Time // when its entry was chained
}

// Stub stands for entries that were removed because they were old enough. Others among them may have stayed.
type Stub struct {
	Company id.Company
	First   int64 // the number of the first that was removed
	Last    Link  // of the last one
	Count   int64
	At      time.Time // when it was made
}

// With is the stub that stands for other entries too, which are removed at an instant: their links, at least one. The zero Stub of a chain
// stands for none.
func (s Stub) With(removed []Link, at time.Time) Stub {
	for _, one := range removed {
		if s.Count == 0 || one.Number < s.First {
			s.First = one.Number
		}
		if s.Count == 0 || one.Number > s.Last.Number {
			s.Last = one
		}
		s.Count++
	}
	s.At = at
	return s
}

func (s Stub) covers(number int64) bool { return s.First <= number && number <= s.Last.Number }

// Signature is an Ed25519 signature of a statement, and the public half of its key.
type Signature struct {
	Text []byte
	Key  ed25519.PublicKey
}

// Signed is a head that a server has signed, with the stub of its chain, if that has one.
type Signed struct {
	Head
	Signature
	Stub *SignedStub
}

// SignedStub is a stub that a server has signed.
type SignedStub struct {
	Stub
	Signature
}

// Statement is what is signed of a head: lines with the words "holdco audit head v1", the id of the company or "instance", the place,
// the hash, and the instant, which is empty for an empty chain.
func (h Head) Statement() []byte {
	return statement("holdco audit head v1", whose(h.Company), number(h.Number), h.Hash.String(), spelled(h.At))
}

// Statement is what is signed of a stub: lines with the words "holdco audit stub v1", the id of the company or "instance", the first and
// the last place, the hash of the last, the count, and the instant.
func (s Stub) Statement() []byte {
	return statement("holdco audit stub v1", whose(s.Company), number(s.First), number(s.Last.Number), s.Last.Hash.String(),
		number(s.Count), spelled(s.At))
}

func statement(lines ...string) (text []byte) {
	for _, line := range lines {
		text = append(append(text, line...), '\n')
	}
	return text
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

func whose(of id.Company) string { return cmp.Or(string(of), "instance") }

func spelled(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return instant.Format(at)
}

// isBy reports whether one of some keys signed a statement.
func (s Signature) isBy(keys []ed25519.PublicKey, statement []byte) bool {
	return slices.ContainsFunc(keys, func(key ed25519.PublicKey) bool {
		return len(key) == ed25519.PublicKeySize && ed25519.Verify(key, statement, s.Text)
	})
}

// Check fails unless one of some keys signed the head, and, if there is a stub, one of them that too. An instance has several keys, one
// after the other: each rotation brings another.
func (s Signed) Check(keys ...ed25519.PublicKey) error {
	switch {
	case !s.isBy(keys, s.Statement()):
		return errors.New("the head is not what the key has signed")
	case s.Stub == nil:
		return nil
	case s.Stub.Company != s.Company:
		return errors.New("the stub is of another chain than the head")
	}
	return s.Stub.Check(keys...)
}

// ErrStub refuses a stub that was not signed, or was changed afterwards.
var ErrStub = errors.New("the stub is not what the key has signed")

// Check fails with ErrStub unless one of some keys signed the stub.
func (s SignedStub) Check(keys ...ed25519.PublicKey) error {
	if !s.isBy(keys, s.Statement()) {
		return ErrStub
	}
	return nil
}

// Fields are the head as the API shows it.
func (s Signed) Fields() event.Fields {
	fields := append(event.Fields{
		event.Optional("companyId", s.Company), event.F("place", s.Number), event.F("hash", s.Hash.String()),
		event.F("sealedAt", instant.Optional(s.At)),
	}, s.fields()...)
	if s.Stub == nil {
		return append(fields, event.F("stub", nil))
	}
	return append(fields, event.F("stub", append(event.Fields{
		event.Optional("companyId", s.Stub.Company), event.F("firstPlace", s.Stub.First), event.F("lastPlace", s.Stub.Last.Number),
		event.F("hash", s.Stub.Last.Hash.String()), event.F("count", s.Stub.Count), event.F("sealedAt", instant.Format(s.Stub.At)),
	}, s.Stub.fields()...)))
}

func (s Signature) fields() event.Fields {
	return event.Fields{event.F("signature", base64.StdEncoding.EncodeToString(s.Text)), event.F("publicKey", SpellKey(s.Key))}
}

// SpellKey spells a public key, in base64.
func SpellKey(key ed25519.PublicKey) string { return base64.StdEncoding.EncodeToString(key) }

// ParseKey reads what SpellKey spells.
func ParseKey(text string) (ed25519.PublicKey, error) {
	key, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || len(key) != ed25519.PublicKeySize {
		return nil, errors.New("a public key must be 32 bytes in base64")
	}
	return key, nil
}

// statementFile is a head, or a stub, in a file.
type statementFile struct {
	CompanyID  id.Company     `json:"companyId"`
	Place      int64          `json:"place"`
	FirstPlace int64          `json:"firstPlace"`
	LastPlace  int64          `json:"lastPlace"`
	Hash       string         `json:"hash"`
	Count      int64          `json:"count"`
	SealedAt   string         `json:"sealedAt"`
	Signature  []byte         `json:"signature"`
	PublicKey  string         `json:"publicKey"`
	Stub       *statementFile `json:"stub"`
}

// ParseSigned reads a head from JSON: what Fields are, or an answer of the API with them as data. A stub is its member stub, with
// companyId, firstPlace, lastPlace, hash, count, sealedAt, signature and publicKey. It does not check the signatures.
func ParseSigned(text []byte) (found Signed, err error) {
	var answer struct {
		Data *json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(text, &answer); err == nil && answer.Data != nil {
		text = *answer.Data
	}
	var file statementFile
	decoder := json.NewDecoder(bytes.NewReader(text))
	if err := decoder.Decode(&file); err != nil {
		return found, fmt.Errorf("a head must be a JSON object, as the API answers it: %w", err)
	}
	found = Signed{Head: Head{Company: file.CompanyID, Link: Link{Number: file.Place}}}
	if found.Hash, found.At, found.Signature, err = file.common(); err != nil || file.Stub == nil {
		return found, err
	}
	stub := SignedStub{Stub: Stub{
		Company: file.Stub.CompanyID, First: file.Stub.FirstPlace, Last: Link{Number: file.Stub.LastPlace}, Count: file.Stub.Count,
	}}
	stub.Last.Hash, stub.At, stub.Signature, err = file.Stub.common()
	found.Stub = &stub
	return found, err
}

// common are the members that heads and stubs have.
func (f statementFile) common() (hash Hash, at time.Time, by Signature, err error) {
	if hash, err = ParseHash(f.Hash); err != nil {
		return hash, at, by, err
	}
	if f.SealedAt != "" {
		var ok bool
		if at, ok = instant.Parse(f.SealedAt); !ok {
			return hash, at, by, errors.New("sealedAt must be an instant, such as 2026-04-11T12:00:00.000Z")
		}
	}
	by.Text = f.Signature
	by.Key, err = ParseKey(f.PublicKey)
	return hash, at, by, err
}
