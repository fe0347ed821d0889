package main

import (
	"bytes"
	"compress/gzip"
	"crypto/md5"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// debianArch are the names of architectures that differ from Go's.
var debianArch = map[string]string{"386": "i386", "arm": "armhf", "ppc64le": "ppc64el"}

// deb writes a Debian package, by dpkg-deb.
func (r release) deb(t target, m manual, licences file) (err error) {
	files, err := loads(map[string]string{
		"usr/lib/systemd/system/holdco.service":                   unit,
		"usr/lib/systemd/system/holdco.service.d/50-process.conf": dropIn,
		"etc/holdco.env":                 envs,
		"usr/share/holdco/alerts.yaml":   alerts,
		"usr/share/holdco/grafana.json":  page,
		"usr/share/doc/holdco/copyright": "LICENSE",
	})
	if err != nil {
		return err
	}
	binary, err := load(r.binary(t), "usr/bin/holdco", 0o755)
	if err != nil {
		return err
	}
	licences.name = "usr/share/doc/holdco/" + licences.name
	for _, f := range append(m.pages, licences) {
		if f.data, err = gzipped(f.data); err != nil {
			return err
		}
		if f.name += ".gz"; !strings.Contains(f.name, "/") {
			f.name = "usr/share/man/man1/" + f.name
		}
		files = append(files, f)
	}
	places := map[string]string{
		"holdco.bash": "usr/share/bash-completion/completions/holdco", "_holdco": "usr/share/zsh/vendor-completions/_holdco",
		"holdco.fish": "usr/share/fish/vendor_completions.d/holdco.fish",
	}
	for _, f := range m.completions {
		f.name = places[f.name]
		files = append(files, f)
	}
	files = inOrder(append(files, binary))
	size := 0
	var sums strings.Builder
	for i, f := range files {
		if f.name == "etc/holdco.env" {
			files[i].mode = 0o600 // it may hold passwords
			continue
		}
		size += (len(f.data) + 1023) / 1024
		fmt.Fprintf(&sums, "%x  %s\n", md5.Sum(f.data), f.name) // the sum that dpkg --verify knows
	}

	arch := t.arch
	if name, ok := debianArch[arch]; ok {
		arch = name
	}
	about, err := r.about(arch, size)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "holdco-deb")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	if err := os.Chmod(folder, 0o755); err != nil {
		return err
	}
	files = append(files, about...)
	files = append(files, file{name: "DEBIAN/md5sums", mode: 0o644, data: []byte(sums.String())})
	if err := r.write(folder, files); err != nil {
		return err
	}
	// One thread: more would give other bytes where there are other numbers of processors.
	command := exec.Command("dpkg-deb", "--root-owner-group", "--threads-max=1", "-Zxz", "-z1", "--build", folder,
		filepath.Join(r.out, "holdco_"+r.debianVersion()+"_"+arch+".deb"))
	command.Env = append(os.Environ(), fmt.Sprintf("SOURCE_DATE_EPOCH=%d", r.time.Unix()))
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	return command.Run()
}

// about are the files by which dpkg knows the package.
func (r release) about(arch string, size int) (files []file, err error) {
	values := strings.NewReplacer("@VERSION@", r.debianVersion(), "@ARCH@", arch, "@SIZE@", strconv.Itoa(size))
	entries, err := os.ReadDir(".packaging/debian")
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		mode := os.FileMode(0o755)
		if entry.Name() == "control" || entry.Name() == "conffiles" {
			mode = 0o644
		}
		f, err := load(filepath.Join(".packaging/debian", entry.Name()), "DEBIAN/"+entry.Name(), mode)
		if err != nil {
			return nil, err
		}
		f.data = []byte(values.Replace(string(f.data)))
		files = append(files, f)
	}
	return files, nil
}

var described = regexp.MustCompile(`-(\d+)-g([0-9a-f]+)(-dirty)?$`)

// debianVersion is the version in Debian's words: a pre-release comes before its release, commits after a tag come after it, and
// what has no tag is older than anything that has one.
func (r release) debianVersion() string {
	if r.version[0] < '0' || r.version[0] > '9' || !strings.Contains(r.version, ".") {
		return "0~git" + strings.ReplaceAll(r.version, "-", ".")
	}
	version := described.ReplaceAllString(r.version, "+$1.$2$3")
	version = strings.ReplaceAll(version, "-dirty", "+dirty")
	return strings.ReplaceAll(version, "-", "~")
}

func gzipped(data []byte) ([]byte, error) {
	var packed bytes.Buffer
	writer, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	_, err = writer.Write(data)
	return packed.Bytes(), errors.Join(err, writer.Close())
}
