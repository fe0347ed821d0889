package programs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"holdco/domain/id"
	"holdco/ports/outbound"
)

var _ outbound.OldRunLogs = (*Programs)(nil)

// WrittenBefore implements outbound.OldRunLogs. What is no log of a run is left out, and so is a folder that cannot be read.
func (p *Programs) WrittenBefore(before time.Time) (found []outbound.OldRunLog, err error) {
	entries, err := os.ReadDir(filepath.Join(p.dataDir, "workspaces"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, entry := range entries {
		if company, ok := id.Parse[id.Company](entry.Name()); ok && entry.IsDir() {
			found = append(found, p.logsOf(company, before)...)
		}
	}
	return found, nil
}

func (p *Programs) openLogs(company id.Company) (*os.Root, error) {
	root, err := p.openCompany(company)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return openOwn(root, logFolder)
}

func (p *Programs) logsOf(company id.Company, before time.Time) (found []outbound.OldRunLog) {
	folder, err := p.openLogs(company)
	if err != nil {
		return nil
	}
	defer folder.Close()
	entries, _ := fs.ReadDir(folder.FS(), ".")
	for _, entry := range entries {
		name, isLog := strings.CutSuffix(entry.Name(), ".log")
		run, isRun := id.Parse[id.Run](name)
		info, err := entry.Info()
		if isLog && isRun && err == nil && info.Mode().IsRegular() && info.ModTime().Before(before) {
			found = append(found, outbound.OldRunLog{Company: company, Run: run, Bytes: info.Size()})
		}
	}
	return found
}

// Remove implements outbound.OldRunLogs.
func (p *Programs) Remove(company id.Company, run id.Run) error {
	folder, err := p.openLogs(company)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	defer folder.Close()
	if err := folder.RemoveAll(tailName(run)); err != nil {
		return err
	}
	return folder.RemoveAll(headName(run))
}
