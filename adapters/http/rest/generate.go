//go:build ignore

// This program makes the types of the request bodies of an API, in its folder, which is the current one. Its arguments are the
// folder of this program, which has the configuration, and those of the APIs from which the document takes components.
package main

import (
	"bytes"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"path/filepath"

	"holdco/adapters/http/httpkit"
)

func main() {
	var others []fs.FS
	for _, folder := range os.Args[2:] {
		others = append(others, os.DirFS(filepath.Join(folder, "openapi")))
	}
	document, err := httpkit.Assemble(os.DirFS("openapi"), others...)
	if err != nil {
		log.Fatal(err)
	}
	models, err := document.RequestModels()
	if err != nil {
		log.Fatal(err)
	}
	generator := exec.Command("go", "tool", "oapi-codegen",
		"-config", filepath.Join(os.Args[1], "codegen.yaml"), "-package", os.Getenv("GOPACKAGE"), "/dev/stdin")
	generator.Stdin, generator.Stderr = bytes.NewReader(models), os.Stderr
	if err := generator.Run(); err != nil {
		log.Fatal(err)
	}
}
