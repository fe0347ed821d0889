// Command pack makes of built binaries what is shipped: archives with bills of materials, Debian packages, and the files of the
// image. The same commit gives the same bytes, but for the certificates in the image, which are those of the machine that builds it.
// "make dist", "make deb" and "make image" call it, from the top of the project.
package main

import (
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	r := release{out: "dist"}
	var epoch int64
	var platforms string
	flag.StringVar(&r.version, "version", "", "the version, as git describes it")
	flag.Int64Var(&epoch, "epoch", 0, "the time of the commit, in seconds since 1970")
	flag.StringVar(&r.bin, "bin", "bin", "the folder of the binaries: holdco for this machine, and OS_ARCH/holdco")
	flag.StringVar(&r.out, "out", "dist", "the folder to write to")
	flag.StringVar(&platforms, "platforms", "", "such as linux/amd64, separated by spaces")
	flag.Parse()
	r.version, r.time = strings.TrimPrefix(r.version, "v"), time.Unix(epoch, 0).UTC()
	for platform := range strings.FieldsSeq(platforms) {
		system, arch, _ := strings.Cut(platform, "/")
		r.targets = append(r.targets, target{system: system, arch: arch})
	}
	if err := r.make(flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

// release is what one run makes.
type release struct {
	version  string
	time     time.Time // of the commit
	bin, out string
	targets  []target
}

type target struct{ system, arch string } // as Go names them

func (r release) binary(t target) string { return filepath.Join(r.bin, t.system+"_"+t.arch, "holdco") }
func (r release) name(t target) string   { return "holdco_" + r.version + "_" + t.system + "_" + t.arch }

// file is one that is shipped.
type file struct {
	name string // with slashes
	mode fs.FileMode
	data []byte
}

// make makes things of some kinds, and the checksums of all that can be downloaded.
func (r release) make(kinds []string) error {
	if r.version == "" || len(r.targets) == 0 || len(kinds) == 0 {
		return errors.New("it needs -version, -platforms, and of archives, deb and image what to make")
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	manual, err := r.manual()
	if err != nil {
		return err
	}
	for _, t := range r.targets {
		bill, err := readBill(r.binary(t))
		if err != nil {
			return err
		}
		licences, err := bill.licences()
		if err != nil {
			return err
		}
		for _, kind := range kinds {
			switch {
			case kind == "archives":
				err = r.archive(t, bill, manual, licences)
			case kind == "deb" && t.system == "linux":
				err = r.deb(t, manual, licences)
			case kind == "image" && t.system == "linux":
				err = r.image(t, licences)
			case kind != "deb" && kind != "image":
				err = fmt.Errorf("%q is none of archives, deb and image", kind)
			}
			if err != nil {
				return fmt.Errorf("%s for %s/%s: %w", kind, t.system, t.arch, err)
			}
		}
	}
	return r.sums()
}

// sums writes the checksums of what was made, now and before.
func (r release) sums() error {
	var lines strings.Builder
	entries, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.IsDir() || entry.Name() == "SHA256SUMS" {
			continue
		}
		data, err := os.ReadFile(filepath.Join(r.out, entry.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&lines, "%x  %s\n", sha256.Sum256(data), entry.Name())
	}
	return os.WriteFile(filepath.Join(r.out, "SHA256SUMS"), []byte(lines.String()), 0o644)
}

// image writes what the Containerfile copies.
func (r release) image(t target, licences file) error {
	binary, err := load(r.binary(t), t.arch+"/holdco", 0o755)
	if err != nil {
		return err
	}
	licence, err := load("LICENSE", "LICENSE", 0o644)
	if err != nil {
		return err
	}
	certificates, err := firstOf("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem")
	if err != nil {
		return err
	}
	root := filepath.Join(r.out, "image")
	files := []file{binary, licence, licences, {name: "ca-certificates.crt", mode: 0o644, data: certificates}}
	if err := r.write(root, files); err != nil {
		return err
	}
	return os.MkdirAll(filepath.Join(root, "empty"), 0o700)
}

func firstOf(names ...string) ([]byte, error) {
	for _, name := range names {
		if data, err := os.ReadFile(name); err == nil {
			return data, nil
		}
	}
	return nil, fmt.Errorf("this machine has no CA certificates: none of %s is there", strings.Join(names, ", "))
}

// load reads a file that is shipped under another name.
func load(from, name string, mode fs.FileMode) (file, error) {
	data, err := os.ReadFile(from)
	return file{name: name, mode: mode, data: data}, err
}

// write writes files below a folder, with their modes, whatever the umask, and all times that of the commit.
func (r release) write(root string, files []file) error {
	for _, f := range files {
		path := filepath.Join(root, filepath.FromSlash(f.name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, f.data, f.mode); err != nil {
			return err
		}
		if err := errors.Join(os.Chmod(path, f.mode), os.Chtimes(path, r.time, r.time)); err != nil {
			return err
		}
	}
	return nil
}

// inOrder sorts files by their names.
func inOrder(files []file) []file {
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	return files
}
