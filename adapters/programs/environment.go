package programs

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"holdco/ports/outbound"
)

// runVariable is the variable by which the processes of a run are found.
const runVariable = "HOLDCO_RUN_ID"

// inherited are the variables that programs get from the environment of this process.
var inherited = []string{"PATH", "HOME", "LANG", "TZ", "TMPDIR"}

func inheritedVariables() map[string]string {
	variables := map[string]string{}
	for _, name := range inherited {
		if value, set := os.LookupEnv(name); set {
			variables[name] = value
		}
	}
	return variables
}

func environment(program outbound.Program, place workspace) map[string]string {
	variables := inheritedVariables()
	maps.Copy(variables, program.Env)
	variables[runVariable] = string(program.Run)
	variables["HOLDCO_WORKSPACE"] = place.path
	variables["HOLDCO_CONTEXT_FILE"] = filepath.Join(place.path, ownFolder, contextFile)
	variables["HOLDCO_MCP_FILE"] = filepath.Join(place.path, ownFolder, mcpFile)
	variables["HOLDCO_RESULT_FILE"] = filepath.Join(place.path, ownFolder, resultFile)
	return variables
}

// pairs returns variables as os/exec wants them.
func pairs(variables map[string]string) []string {
	list := make([]string, 0, len(variables))
	for name, value := range variables {
		list = append(list, name+"="+value)
	}
	slices.Sort(list)
	return list
}

// lookUp returns the path of a program: one without a slash is looked up in a PATH, others are below a directory unless
// they are absolute. exec.LookPath would take the PATH and the directory of this process.
func lookUp(name, paths, directory string) (string, error) {
	candidates := []string{name}
	here := strings.ContainsRune(name, '/') || strings.ContainsRune(name, filepath.Separator)
	switch {
	case here && !filepath.IsAbs(name):
		candidates = []string{filepath.Join(directory, name)}
	case !here:
		candidates = nil
		for _, path := range filepath.SplitList(paths) {
			if filepath.IsAbs(path) { // what a relative one means depends on who runs the program
				candidates = append(candidates, filepath.Join(path, name))
			}
		}
	}
	var failure error
	for _, candidate := range candidates {
		found, err := exec.LookPath(candidate)
		if err == nil {
			return found, nil
		}
		if info, missing := os.Stat(candidate); failure == nil && missing == nil && !info.IsDir() {
			failure = err // it is there and cannot be run; another of that name may come
		}
	}
	switch {
	case errors.Is(failure, fs.ErrPermission):
		return "", refuse(nil, "The program %q is not executable", name)
	case failure != nil:
		return "", refuse(failure, "The program %q cannot be run", name)
	case here:
		return "", refuse(nil, "There is no program %q", name)
	}
	return "", refuse(nil, "There is no program %q in PATH", name)
}
