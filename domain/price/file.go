package price

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"holdco/domain/cost"
	"holdco/domain/fault"
	"holdco/domain/money"
	"holdco/domain/text"
)

// Bounds of a file.
const (
	MostBytes  = 32 << 20
	MostModels = 20_000

	providerLength = 200
	mostProblems   = 100 // that are reported
)

// File is what was read of a file in the form of LiteLLM's model_prices_and_context_window.json: an object of models, with prices in
// dollars per token.
type File struct {
	Models  []Model // by ascending ids, which differ in more than case
	Skipped int     // entries that are no model or have no price by tokens, such as models of images
}

// notModels are entries of LiteLLM's file that are none.
var notModels = []string{"sample_spec", "fallback_generalizations"}

var errTooLong = fmt.Errorf("it has more than %d MiB", MostBytes>>20)

// Read reads a file. What is wrong with models is a fault.ValidationFailed with all of it, or the first mostProblems. A file that
// is no JSON object, too long, or cut off has another error.
//
// A model may be there twice, in whatever case, at the same prices: LiteLLM's file has such. At different ones it is refused, since
// nobody could tell which price holds.
func Read(from io.Reader) (File, error) {
	file, err := read(&bounded{from: from, left: MostBytes})
	if err == nil && len(file.Models) == 0 {
		err = fault.Validation(fault.Problems{fault.Fieldf("", fault.Required,
			"it has no model with the prices input_cost_per_token and output_cost_per_token")})
	}
	return file, err
}

func read(from io.Reader) (File, error) {
	r := reader{
		decoder: jsontext.NewDecoder(from, jsontext.AllowDuplicateNames(true)),
		seen:    map[string]Model{},
	}
	if err := r.read(); err != nil {
		return File{}, r.explain(err)
	}
	if len(r.problems) > 0 {
		return File{}, fault.Validation(r.problems)
	}
	slices.SortFunc(r.file.Models, byID)
	return r.file, nil
}

// bounded fails when more is read than it lets through.
type bounded struct {
	from io.Reader
	left int
}

// Read implements io.Reader.
func (b *bounded) Read(into []byte) (int, error) {
	n, err := b.from.Read(into)
	if b.left -= n; b.left < 0 {
		return 0, errTooLong
	}
	return n, err
}

// reader reads one file.
type reader struct {
	decoder  *jsontext.Decoder
	file     File
	seen     map[string]Model // by their ids, folded
	entry    string           // that is being read; empty: none was begun
	problems fault.Problems
}

func (r *reader) read() error {
	if kind := r.decoder.PeekKind(); kind != '{' && kind != jsontext.KindInvalid {
		return errors.New("it must be a JSON object of models")
	}
	if _, err := r.decoder.ReadToken(); err != nil {
		return err
	}
	for len(r.problems) < mostProblems {
		token, err := r.decoder.ReadToken()
		switch {
		case err != nil:
			return err
		case token.Kind() == '}':
			if _, err := r.decoder.ReadToken(); !errors.Is(err, io.EOF) {
				return errors.New("something follows the JSON object of models")
			}
			return nil
		}
		r.entry = token.String()
		if err := r.readEntry(); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) readEntry() error {
	if slices.Contains(notModels, r.entry) {
		r.file.Skipped++
		return r.decoder.SkipValue()
	}
	if r.decoder.PeekKind() != '{' {
		err := r.decoder.SkipValue()
		if err == nil {
			r.refuse("it must be an object")
		}
		return err
	}
	var m Model
	if err := r.readModel(&m); err != nil {
		return err
	}
	if len(m.Input) == 0 || m.Input[0].Above > 0 || len(m.Output) == 0 || m.Output[0].Above > 0 {
		r.file.Skipped++
		return nil
	}
	id, wrong := text.Name("its id", r.entry, cost.ModelLength)
	for _, one := range wrong {
		r.refuse("%s", one.Message)
	}
	m.ID = id
	if same, isThere := r.seen[text.Fold(id)]; isThere {
		if !m.costsAs(same) {
			r.refuse("it is there twice, at different prices")
		}
		return nil
	}
	if len(r.file.Models) == MostModels {
		return fmt.Errorf("it has more than %d models", MostModels)
	}
	r.seen[text.Fold(id)] = m
	r.file.Models = append(r.file.Models, m)
	return nil
}

// readModel reads the members of a model that matter.
func (r *reader) readModel(m *Model) error {
	if _, err := r.decoder.ReadToken(); err != nil {
		return err
	}
	for {
		token, err := r.decoder.ReadToken()
		if err != nil || token.Kind() == '}' {
			return err
		}
		name := token.String()
		steps, above := m.stepsOf(name)
		if steps == nil && name != "litellm_provider" {
			if err := r.decoder.SkipValue(); err != nil {
				return err
			}
			continue
		}
		value, err := r.decoder.ReadValue()
		switch {
		case err != nil:
			return err
		case value.Kind() == 'n':
		case steps != nil:
			r.readPrice(name, value, steps, above)
		case value.Kind() != '"':
			r.refuse("litellm_provider must be a string")
		default:
			r.readProvider(value, m)
		}
	}
}

func (r *reader) readProvider(value jsontext.Value, m *Model) {
	sent, _ := jsontext.AppendUnquote(nil, value) // the decoder has checked it
	if len(sent) == 0 {
		return
	}
	provider, wrong := text.Name("litellm_provider", string(sent), providerLength)
	for _, one := range wrong {
		r.refuse("%s", one.Message)
	}
	m.Provider = provider
}

func (r *reader) readPrice(name string, value jsontext.Value, steps *Steps, above int64) {
	if value.Kind() != '0' {
		r.refuse("%s must be a number", name)
		return
	}
	p, err := ParsePerToken(money.Number(value))
	if err != nil {
		r.refuse("%s: %s", name, err)
		return
	}
	n, isThere := slices.BinarySearchFunc(*steps, above, func(s Step, above int64) int { return int(s.Above - above) })
	if isThere {
		r.refuse("%s is there twice", name)
		return
	}
	*steps = slices.Insert(*steps, n, Step{above, p})
}

// stepsOf returns the prices that a member of a file names, and above how many tokens; nil: none.
func (m *Model) stepsOf(name string) (steps *Steps, above int64) {
	for _, k := range m.kinds() {
		if name == k.field {
			return k.steps, 0
		}
		thousands, isAbove := strings.CutPrefix(name, k.field+"_above_")
		thousands, isTokens := strings.CutSuffix(thousands, "k_tokens")
		n, err := strconv.ParseUint(thousands, 10, 20)
		if isAbove && isTokens && err == nil && n > 0 && strconv.FormatUint(n, 10) == thousands {
			return k.steps, int64(n) * 1000
		}
	}
	return nil, 0
}

// refuse notes what is wrong with the entry that is being read.
func (r *reader) refuse(format string, args ...any) {
	message := fmt.Sprintf("%q: %s", r.entry, fmt.Sprintf(format, args...))
	r.problems = append(r.problems, fault.Fieldf(r.entry, fault.InvalidFormat, "%s", message))
}

// explain words an error that ended the reading, and says where.
func (r *reader) explain(err error) error {
	syntax, isSyntax := errors.AsType[*jsontext.SyntacticError](err)
	switch {
	case errors.Is(err, errTooLong):
		err = errTooLong
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		err = errors.New("it is cut off")
	case isSyntax:
		err = fmt.Errorf("it is no JSON at byte %d: %w", syntax.ByteOffset, syntax.Err)
	}
	if r.entry == "" {
		return err
	}
	return fmt.Errorf("%w, in or after the entry %q", err, r.entry)
}

// Parse reads what Format spells, of any length. Its errors are no faults: nobody has sent this.
func Parse(formatted string) ([]Model, error) {
	file, err := read(strings.NewReader(formatted))
	if err != nil {
		return nil, fmt.Errorf("the models cannot be read: %v", err) //nolint:errorlint // see above
	}
	return file.Models, nil
}

// Format spells models as Read reads them, with all that it reads.
func Format(models []Model) []byte {
	text := []byte{'{'}
	for n, m := range models {
		if n > 0 {
			text = append(text, ',')
		}
		text = append(appendString(text, m.ID), ':', '{')
		if m.Provider != "" {
			text = append(appendString(append(text, `"litellm_provider":`...), m.Provider), ',')
		}
		for _, k := range m.kinds() {
			for _, step := range *k.steps {
				name := k.field
				if step.Above > 0 {
					name += fmt.Sprintf("_above_%dk_tokens", step.Above/1000)
				}
				text = append(append(append(appendString(text, name), ':'), step.Price.PerToken()...), ',')
			}
		}
		text[len(text)-1] = '}' // there are prices, so a comma is last
	}
	return append(text, '}')
}

// appendString appends a JSON string.
func appendString(to []byte, from string) []byte {
	to, _ = jsontext.AppendQuote(to, from) // valid UTF-8, as all names are
	return to
}
