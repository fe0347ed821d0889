package importer_test

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"holdco/adapters/leads/importer"
	"holdco/domain/lead"
)

func TestOtherEncodingsAreConvertedOrNamed(t *testing.T) {
	t.Parallel()
	const text = "name,website\r\nMüller “Söhne”,müller.example\r\n"
	wide := func(order unicode.Endianness, mark unicode.BOMPolicy) string {
		encoded, err := unicode.UTF16(order, mark).NewEncoder().String(text)
		if err != nil {
			t.Fatal(err)
		}
		return encoded
	}
	windows, err := charmap.Windows1252.NewEncoder().String(text)
	if err != nil {
		t.Fatal(err)
	}
	packed := func(text string) string {
		var to bytes.Buffer
		w := gzip.NewWriter(&to)
		_, _ = w.Write([]byte(text))
		_ = w.Close()
		return to.String()
	}
	for _, c := range []struct {
		name, file, encoding, refused string
	}{
		{"UTF-8", text, "", ""},
		{"UTF-8, as was said", text, "utf-8", ""},
		{"UTF-16 with a mark", wide(unicode.LittleEndian, unicode.UseBOM), lead.UTF16, ""},
		{"UTF-16, big endian", wide(unicode.BigEndian, unicode.UseBOM), lead.UTF16, ""},
		{"UTF-16 without a mark", wide(unicode.LittleEndian, unicode.IgnoreBOM), lead.UTF16, ""},
		{"UTF-16, packed", packed(wide(unicode.LittleEndian, unicode.UseBOM)), lead.UTF16, ""},
		{"Windows-1252", windows, lead.Windows1252, ""},
		{"Windows-1252, packed", packed(windows), lead.Windows1252, ""},
		{"UTF-16 that nobody named", wide(unicode.LittleEndian, unicode.UseBOM), "", "in UTF-16"},
		{"nor without a mark", wide(unicode.BigEndian, unicode.IgnoreBOM), "", "--encoding utf-16"},
		{"a workbook", "PK\x03\x04\x14\x00", "", "Excel workbook"},
	} {
		found, err := gather(importer.Files{Encoding: c.encoding}.Leads(strings.NewReader(c.file), importer.CSV))
		switch {
		case c.refused != "":
			if err == nil || !strings.Contains(err.Error(), c.refused) {
				t.Errorf("%s: %v", c.name, err)
			}
		case err != nil || len(found) != 1 || found[0].Name != "Müller “Söhne”" || found[0].Website != "müller.example":
			t.Errorf("%s: %+v, %v", c.name, found, err)
		}
	}
	found, err := gather(importer.Files{}.Leads(strings.NewReader(windows), importer.CSV))
	if err != nil || len(found) != 1 || !strings.Contains(found[0].Problems[0].Message, `reads "Müller “Söhne`) {
		t.Errorf("Windows-1252 that nobody named: %+v, %v", found, err)
	}
}

func TestWhatIsCutOffIsSaid(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	for range 1000 {
		_, _ = w.Write([]byte(`{"name":"Acme"}` + "\n"))
	}
	_ = w.Close()
	_, err := gather(importer.Files{}.Leads(bytes.NewReader(packed.Bytes()[:packed.Len()-9]), importer.NDJSON))
	if err == nil || !strings.Contains(err.Error(), "what gzip packed is cut off after ") {
		t.Error(err)
	}
}

func TestAnotherFormatIsGuessedFromTheFirstLine(t *testing.T) {
	t.Parallel()
	for file, hint := range map[string]string{"name,phone\nAcme,\n": "--format csv", "[\n{}]": "--format json", "{\nname": ""} {
		found, err := gather(importer.Files{}.Leads(strings.NewReader(file), importer.NDJSON))
		if err != nil || !strings.Contains(found[0].Problems[0].Message, hint) ||
			strings.Contains(found[1].Problems[0].Message, "--format") {
			t.Errorf("%q: %+v, %v", file, found, err)
		}
	}
}
