package importer_test

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"holdco/adapters/leads/importer"
	"holdco/domain/fault"
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

func TestATableWithoutCommasIsNamed(t *testing.T) {
	t.Parallel()
	wide, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String("name\twebsite\r\nAcme\tacme.example\r\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ file, encoding, want string }{
		{wide, lead.UTF16, `the header has '\t' between its columns. Columns are separated by commas: save the file as "CSV UTF-8`},
		{"name;website\nAcme;acme.example\n", "", `the header has ';' between its columns. Columns are separated by commas`},
		{"sep=;\r\nname;website\r\n", "", `the first line says that columns are separated by ";". Columns are separated by commas`},
		{"name,website,\nAcme,acme.example,\n", "", "column 3 of the header has no name: name it, or take it out of the file"},
		{"\u4e00\x00n\x00a\n", "", "in UTF-16"},
		{"n\x81me\n", lead.Windows1252, "the line is not in windows-1252: what is in the place of its character 2"},
	} {
		if _, err := gather(importer.Files{Encoding: c.encoding}.Leads(strings.NewReader(c.file), importer.CSV)); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v", c.file, err)
		}
	}
	found, err := gather(importer.Files{}.Leads(strings.NewReader("SEP=,\r\nname,website\r\nAcme,acme.example\r\n"), importer.CSV))
	if err != nil || len(found) != 1 || found[0].Website != "acme.example" {
		t.Errorf("%+v, %v", found, err)
	}
}

func TestWhatStandsForNothingInAnEncodingIsRefused(t *testing.T) {
	t.Parallel()
	wide, err := unicode.UTF16(unicode.BigEndian, unicode.UseBOM).NewEncoder().String("name,email\nAcme,a@acme.example\n")
	if err != nil {
		t.Fatal(err)
	}
	wide = strings.Replace(wide, "\x00a\x00@", "\xd8\x00\x00@", 1) // half of a pair
	for encoding, file := range map[string]string{
		lead.Windows1252: "name,email\nAcme,\x8d@acme.example\n", lead.UTF16: wide,
	} {
		found, err := gather(importer.Files{Encoding: encoding}.Leads(strings.NewReader(file), importer.CSV))
		if err != nil || len(found) != 1 {
			t.Fatalf("%s: %+v, %v", encoding, found, err)
		}
		_, err = found[0].Lead(lead.Catalog{})
		if fields := fault.Of(err).Fields; len(fields) != 1 || fields[0].Path != "email" || fields[0].Code != fault.InvalidCharacters {
			t.Errorf("%s: %+v", encoding, fields)
		}
		read, err := found[0].Read(lead.Catalog{}, lead.Rules{Lenient: true})
		if err != nil || read.Email != "" || len(read.Dropped) != 1 {
			t.Errorf("%s, lenient: %+v, %v", encoding, read, err)
		}
	}
	campaigns := importer.Files{Encoding: lead.Windows1252}.Campaigns(strings.NewReader("id,name\ncam_1,A\x81\n"), importer.CSV)
	for line, err := range campaigns {
		if err != nil || len(line.Draft.Problems) != 1 || line.Draft.Problems[0].Code != fault.InvalidCharacters {
			t.Errorf("%+v, %v", line, err)
		}
	}
}
