package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	cyclonedx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/uuid"
)

// Where the licences are of what is in the binary beside modules. The first names a package and a version on lines of its own.
const (
	licencesOfDashboard = "adapters/dashboard/dist/licenses.txt"
	licencesOfSwaggerUI = "adapters/http/docs/swagger-ui/swagger-ui-bundle.js.LICENSE.txt.gz"
)

// bill is what a binary consists of.
type bill struct {
	sum       [sha256.Size]byte // of the binary
	goVersion string            // such as 1.26.0
	modules   []part
	npm       []part
	dashboard []byte // licences
	swaggerUI []byte // the same
}

type part struct{ name, version string }

func readBill(binary string) (bill, error) {
	data, err := os.ReadFile(binary)
	if err != nil {
		return bill{}, err
	}
	info, err := buildinfo.Read(bytes.NewReader(data))
	if err != nil {
		return bill{}, err
	}
	b := bill{sum: sha256.Sum256(data), goVersion: strings.TrimPrefix(info.GoVersion, "go")}
	for _, module := range info.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		b.modules = append(b.modules, part{module.Path, module.Version})
	}
	if b.dashboard, err = os.ReadFile(licencesOfDashboard); err != nil {
		return bill{}, err
	}
	for _, found := range regexp.MustCompile(`(?m)^## (\S+) - (\S+)`).FindAllSubmatch(b.dashboard, -1) {
		b.npm = append(b.npm, part{string(found[1]), string(found[2])})
	}
	if b.swaggerUI, err = unzipped(licencesOfSwaggerUI); err != nil {
		return bill{}, err
	}
	version := regexp.MustCompile(`^Swagger UI (\S+),`).FindSubmatch(b.swaggerUI)
	if version == nil || len(b.npm) == 0 {
		return bill{}, fmt.Errorf("%s or %s does not say which versions it is about", licencesOfDashboard, licencesOfSwaggerUI)
	}
	b.npm = append(b.npm, part{"swagger-ui-dist", string(version[1])})
	return b, nil
}

func unzipped(name string) ([]byte, error) {
	packed, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer packed.Close()
	reader, err := gzip.NewReader(packed)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(reader)
}

// encode writes the bill as JSON of CycloneDX. Its serial number follows from the binary.
func (b bill) encode(r release) ([]byte, error) {
	bom := cyclonedx.NewBOM()
	bom.SerialNumber = uuid.NewHash(sha256.New(), uuid.NameSpaceURL, b.sum[:], 8).URN()
	bom.Metadata = &cyclonedx.Metadata{
		Timestamp: r.time.Format(time.RFC3339),
		Component: &cyclonedx.Component{
			BOMRef: "holdco", Type: cyclonedx.ComponentTypeApplication, Name: "holdco", Version: r.version,
			Hashes:   &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: fmt.Sprintf("%x", b.sum)}},
			Licenses: &cyclonedx.Licenses{{License: &cyclonedx.License{ID: "MIT"}}},
		},
	}
	components := []cyclonedx.Component{component("golang", part{"std", b.goVersion})}
	for _, module := range b.modules {
		components = append(components, component("golang", module))
	}
	for _, one := range b.npm {
		components = append(components, component("npm", one))
	}
	bom.Components = &components
	var encoded bytes.Buffer
	err := cyclonedx.NewBOMEncoder(&encoded, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
	return encoded.Bytes(), err
}

func component(kind string, p part) cyclonedx.Component {
	url := "pkg:" + kind + "/" + strings.NewReplacer("@", "%40").Replace(p.name) + "@" + strings.ReplaceAll(p.version, "+", "%2B")
	return cyclonedx.Component{
		BOMRef: url, PackageURL: url, Type: cyclonedx.ComponentTypeLibrary, Name: p.name, Version: p.version,
	}
}

var isLicence = regexp.MustCompile(`(?i)^(licen[cs]es?|copying|notices?|patents|unlicense)([.-].*)?$`)

// licences are the texts of all that the binary has of others.
func (b bill) licences() (file, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return file{}, err
	}
	var text bytes.Buffer
	add := func(title string, body []byte) {
		fmt.Fprintf(&text, "%s\n%s\n\n%s\n\n\n", title, strings.Repeat("=", len(title)), bytes.TrimSpace(body))
	}
	text.WriteString("The licences of what the program holdco has of others.\n\n\n")
	licence, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "LICENSE"))
	if err != nil {
		return file{}, err
	}
	add("Go "+b.goVersion, licence)
	folders, err := b.folders()
	if err != nil {
		return file{}, err
	}
	for _, module := range b.modules {
		body, err := licencesIn(folders[module.name])
		if err != nil {
			return file{}, fmt.Errorf("the licence of %s: %w", module.name, err)
		}
		add(module.name+" "+module.version, body)
	}
	add("The reference pages", b.swaggerUI)
	add("The dashboard", b.dashboard)
	return file{name: "THIRD_PARTY_LICENSES", mode: 0o644, data: text.Bytes()}, nil
}

// folders are where the modules were unpacked, by their names.
func (b bill) folders() (map[string]string, error) {
	args := []string{"list", "-m", "-f", "{{.Path}} {{.Dir}}"}
	for _, module := range b.modules {
		args = append(args, module.name)
	}
	command := exec.Command("go", args...)
	command.Stderr = os.Stderr
	out, err := command.Output()
	folders := map[string]string{}
	for line := range strings.Lines(string(out)) {
		name, folder, _ := strings.Cut(strings.TrimSpace(line), " ")
		folders[name] = folder
	}
	return folders, err
}

// licencesIn returns the texts of licences that are in a folder, one after the other.
func licencesIn(folder string) ([]byte, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var texts [][]byte
	for _, entry := range entries {
		if !isLicence.MatchString(entry.Name()) {
			continue
		}
		path := filepath.Join(folder, entry.Name())
		var text []byte
		if entry.IsDir() {
			text, err = allIn(path)
		} else {
			text, err = os.ReadFile(path)
		}
		if err != nil {
			return nil, err
		}
		texts = append(texts, bytes.TrimSpace(text))
	}
	if len(texts) == 0 {
		return nil, errors.New("there is no file of it in " + folder)
	}
	return bytes.Join(texts, []byte("\n\n")), nil
}

// allIn returns the files of a folder, one after the other.
func allIn(folder string) ([]byte, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var texts [][]byte
	for _, entry := range entries {
		text, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			return nil, err
		}
		texts = append(texts, bytes.TrimSpace(text))
	}
	return bytes.Join(texts, []byte("\n\n")), nil
}
