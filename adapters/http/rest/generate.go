//go:build ignore

// This program writes the schemas of request bodies to standard output, for the code generator.
package main

import (
	"log"
	"os"

	"holdco/adapters/http/httpkit"
)

func main() {
	document, err := httpkit.Assemble(os.DirFS("openapi"))
	if err != nil {
		log.Fatal(err)
	}
	text, err := document.RequestModels()
	if err != nil {
		log.Fatal(err)
	}
	if _, err := os.Stdout.Write(text); err != nil {
		log.Fatal(err)
	}
}
