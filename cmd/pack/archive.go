package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
)

// manual are the pages and the completions, as the program writes them.
type manual struct{ pages, completions []file }

func (r release) manual() (m manual, err error) {
	folder, err := os.MkdirTemp("", "holdco-man")
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	if _, err := r.run("man", folder); err != nil {
		return m, err
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return m, err
	}
	for _, entry := range entries {
		page, err := load(filepath.Join(folder, entry.Name()), entry.Name(), 0o644)
		if err != nil {
			return m, err
		}
		m.pages = append(m.pages, page)
	}
	for _, c := range []struct{ shell, name string }{{"bash", "holdco.bash"}, {"zsh", "_holdco"}, {"fish", "holdco.fish"}} {
		text, err := r.run("completion", c.shell)
		if err != nil {
			return m, err
		}
		m.completions = append(m.completions, file{name: c.name, mode: 0o644, data: text})
	}
	return m, nil
}

// run runs a command of the program for this machine.
func (r release) run(args ...string) ([]byte, error) {
	command := exec.Command(filepath.Join(r.bin, "holdco"), args...)
	command.Env = append(os.Environ(), fmt.Sprintf("SOURCE_DATE_EPOCH=%d", r.time.Unix()), "TZ=UTC")
	command.Stderr = os.Stderr
	return command.Output()
}

// loads are files of the project, by the names under which they are shipped.
func loads(names map[string]string) (files []file, err error) {
	for name, from := range names {
		f, err := load(from, name, 0o644)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

const (
	unit   = ".packaging/holdco.service"
	dropIn = ".packaging/50-process.conf"
	envs   = ".packaging/holdco.env"
	alerts = "adapters/telemetry/metrics/alerts.yaml"
	page   = "adapters/telemetry/metrics/grafana.json"
)

// archive writes a tar.gz for one platform, with a bill of materials beside it.
func (r release) archive(t target, bill bill, m manual, licences file) error {
	files, err := loads(map[string]string{
		"LICENSE": "LICENSE", "systemd/holdco.service": unit, "systemd/holdco.service.d/50-process.conf": dropIn,
		"systemd/holdco.env": envs, "monitoring/alerts.yaml": alerts, "monitoring/grafana.json": page,
	})
	if err != nil {
		return err
	}
	binary, err := load(r.binary(t), "holdco", 0o755)
	if err != nil {
		return err
	}
	files = append(files, binary, licences)
	for folder, those := range map[string][]file{"man/man1": m.pages, "completions": m.completions} {
		for _, f := range those {
			f.name = path.Join(folder, f.name)
			files = append(files, f)
		}
	}
	packed, err := r.tarball(r.name(t), files)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(r.out, r.name(t)+".tar.gz"), packed, 0o644); err != nil {
		return err
	}
	encoded, err := bill.encode(r)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, r.name(t)+".cdx.json"), encoded, 0o644)
}

// tarball packs files, and the folders that they are in, below one folder.
func (r release) tarball(root string, files []file) ([]byte, error) {
	var packed bytes.Buffer
	squeezed, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	archive := tar.NewWriter(squeezed)
	made := map[string]bool{}
	for _, f := range inOrder(files) {
		name := path.Join(root, f.name)
		for end, letter := range name {
			folder := name[:end] + "/"
			if letter != '/' || made[folder] {
				continue
			}
			made[folder] = true
			if err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: folder, Mode: 0o755, ModTime: r.time}); err != nil {
				return nil, err
			}
		}
		header := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: int64(f.mode), Size: int64(len(f.data)), ModTime: r.time}
		if err := archive.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := archive.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(archive.Close(), squeezed.Close()); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}
