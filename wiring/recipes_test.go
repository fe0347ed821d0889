package wiring_test

import (
	"encoding/json"
	"maps"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"holdco/adapters/http/rest/resttest"
	"holdco/adapters/scriptedmodel"
	"holdco/adapters/system/processtest"
)

// gatewayInRecipes is the address of the gateway in GATEWAY.md. Tests put theirs in its place; nothing else in a recipe is changed.
const gatewayInRecipes = "http://127.0.0.1:3103"

// recipe is a block of GATEWAY.md: a comment says whose it is and what for, and the block follows.
type recipe struct {
	place string // of the kind file: its path, below ~/ or in the directory of the program
	text  string
}

var recipePattern = regexp.MustCompile("(?s)<!-- recipe: ([a-z-]+) ([a-z]+)(?: ([^ ]+))? -->\n```[a-z]+\n(.*?)\n```\n")

// recipes returns the blocks of GATEWAY.md by program and kind, with the address of a gateway.
func recipes(t *testing.T, gateway string) map[string]recipe {
	t.Helper()
	document, err := os.ReadFile("../GATEWAY.md")
	must(t, err)
	found := map[string]recipe{}
	for _, block := range recipePattern.FindAllStringSubmatch(string(document), -1) {
		found[block[1]+" "+block[2]] = recipe{place: block[3], text: strings.ReplaceAll(block[4], gatewayInRecipes, gateway)}
	}
	if marks := strings.Count(string(document), "<!-- recipe:"); marks != len(found) {
		t.Fatalf("GATEWAY.md has %d marks, and %d recipes can be read: %v", marks, len(found), slices.Sorted(maps.Keys(found)))
	}
	return found
}

// codingProgram is what a test must know of a program: how to lead it to the scripted model, and what a call costs there.
type codingProgram struct {
	secret  string                                     // that the recipe refers to
	environ func(model string) map[string]string       // what leads it to the model at a URL
	files   func(model string) map[string]string       // the same, in its home
	merge   func(file, recipe string) (content string) // of a file that the recipe has too
	call    float64                                    // what a call costs, in millionths of a dollar
}

const recipeKey = "key-of-the-scripted-model"

// codingPrograms are the programs that GATEWAY.md has recipes for. A call reads 400 tokens, and 600 more from the cache, and writes 50.
var codingPrograms = map[string]codingProgram{
	"claude-code": {
		secret: "anthropic", call: 400*5 + 600*0.5 + 50*25, // of the model that is its default
		environ: func(model string) map[string]string {
			return map[string]string{
				"ANTHROPIC_BASE_URL": model, "ANTHROPIC_API_KEY": recipeKey, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
				"DISABLE_AUTOUPDATER": "1",
			}
		},
	},
	"codex": {
		secret: "openai", call: 400*1.75 + 600*0.175 + 50*14,
		environ: func(string) map[string]string { return map[string]string{"CODEX_API_KEY": recipeKey} },
		files: func(model string) map[string]string {
			return map[string]string{".codex/config.toml": `model_provider = "scripted"
[model_providers.scripted]
name = "scripted"
base_url = "` + model + `/v1"
env_key = "CODEX_API_KEY"
wire_api = "responses"
`}
		},
		merge: func(file, recipe string) string { return file + recipe },
	},
	"gemini": {
		secret: "gemini", call: 400*1.25 + 600*0.125 + 50*10,
		environ: func(model string) map[string]string {
			return map[string]string{"GOOGLE_GEMINI_BASE_URL": model, "GEMINI_API_KEY": recipeKey}
		},
		files: func(string) map[string]string {
			return map[string]string{".gemini/settings.json": `{"security":{"auth":{"selectedType":"gemini-api-key"}}}`}
		},
		merge: func(file, recipe string) string { // two JSON objects
			return strings.TrimSuffix(file, "}") + "," + strings.TrimPrefix(recipe, "{")
		},
	},
	"opencode": {
		secret: "anthropic", call: 400*3 + 600*0.3 + 50*15,
		environ: func(string) map[string]string {
			return map[string]string{"ANTHROPIC_API_KEY": recipeKey, "OPENCODE_DISABLE_AUTOUPDATE": "1"}
		},
		files: func(model string) map[string]string {
			return map[string]string{
				".config/opencode/opencode.json": `{"provider":{"anthropic":{"options":{"baseURL":"` + model + `/v1"}}}}`,
			}
		},
	},
}

// kitchen is where a recipe is tried: a home, the scripted model, and the variables for both.
type kitchen struct {
	codingProgram

	name    string
	recipes map[string]recipe
	model   *scriptedmodel.Model
	home    string
	environ map[string]string
}

// eachRealProgram runs a test for each program of the recipes on each store.
func eachRealProgram(t *testing.T, test func(t *testing.T, s *instance, k *kitchen)) {
	t.Helper()
	for name := range codingPrograms {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachStore(t, func(t *testing.T, s *instance) { test(t, s, newKitchen(t, s, name)) })
		})
	}
}

// programsFolder has the coding programs, as .ci/install leaves them.
const programsFolder = "../.tools/agents/node_modules/.bin"

func newKitchen(t *testing.T, s *instance, program string) *kitchen {
	t.Helper()
	processtest.CheckName(t, "the coding programs")
	programs, err := filepath.Abs(programsFolder)
	must(t, err)
	if _, err := os.Stat(programs); err != nil {
		t.Fatal("the coding programs are missing; .ci/install installs them: ", err)
	}
	k := &kitchen{
		name: program, codingProgram: codingPrograms[program], recipes: recipes(t, s.gatewayURL), home: t.TempDir(),
		model: &scriptedmodel.Model{
			Key: recipeKey, Values: map[string]*regexp.Regexp{"lease": regexp.MustCompile(`lse_[a-z0-9]+#[0-9]+`)},
		},
	}
	server := httptest.NewServer(k.model)
	t.Cleanup(server.Close)
	k.environ = k.codingProgram.environ(server.URL)
	k.environ["HOME"], k.environ["PATH"] = k.home, programs+":"+os.Getenv("PATH")
	k.environ["TMPDIR"] = filepath.Join(k.home, "tmp") // Codex wants its home not to be below it
	must(t, os.Mkdir(k.environ["TMPDIR"], 0o700))
	if k.files != nil {
		for path, content := range k.files(server.URL) {
			k.write(t, path, content)
		}
	}
	return k
}

// write makes a file in the home.
func (k *kitchen) write(t *testing.T, path, content string) {
	t.Helper()
	path = filepath.Join(k.home, path)
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.WriteFile(path, []byte(content), 0o600))
}

// configure writes the file of the recipe: into the home, or into a directory.
func (k *kitchen) configure(t *testing.T, directory string) {
	t.Helper()
	file := k.recipe(t, "file")
	path, isHome := strings.CutPrefix(file.place, "~/")
	if !isHome {
		must(t, os.WriteFile(filepath.Join(directory, path), []byte(file.text), 0o600))
		return
	}
	content, err := os.ReadFile(filepath.Join(k.home, path))
	must(t, err)
	k.write(t, path, k.merge(string(content), file.text))
}

func (k *kitchen) recipe(t *testing.T, kind string) recipe {
	t.Helper()
	found, isThere := k.recipes[k.name+" "+kind]
	if !isThere {
		t.Fatalf("GATEWAY.md has no recipe %s %s", k.name, kind)
	}
	return found
}

// shell runs a script with the program at hand, and returns what it wrote.
func (k *kitchen) shell(t *testing.T, directory, script string, environ ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "sh", "-c", script)
	command.Dir = directory
	watched, _ := processtest.Environ() // by which holdco ends, because the shell is its parent
	command.Env = slices.Concat(os.Environ(), environ, []string{watched + "="})
	for name, value := range k.environ {
		command.Env = append(command.Env, name+"="+value)
	}
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	return string(output)
}

// call is a step in which the model calls a tool of Holdco.
func calls(tool, arguments string) scriptedmodel.Step {
	return scriptedmodel.Step{Calls: []scriptedmodel.Call{{Tool: tool, Arguments: arguments}}}
}

func TestRecipesForClientsWorkWithRealPrograms(t *testing.T) {
	t.Parallel()
	eachRealProgram(t, func(t *testing.T, s *instance, k *kitchen) {
		acme, ada := s.employ(t, "acme")
		task := s.named(t, acme, ada, "")
		k.model.Script = []scriptedmodel.Step{
			calls("whoami", ""), calls("claim", ""), calls("checkpoint", `{"lease":"${lease}","note":"Half of it."}`),
			calls("comment", `{"lease":"${lease}","body":"I am at it."}`),
			calls("complete", `{"lease":"${lease}","result":{"words":240}}`), {Text: "It is done."},
		}
		directory := t.TempDir()
		k.configure(t, directory)
		said := k.shell(t, directory, k.recipe(t, "command").text,
			"HOLDCO_AGENT_TOKEN="+ada.Token, "PROMPT=Work on what Holdco has for you.")
		if !strings.Contains(said, "It is done.") || k.model.Left() != 0 {
			t.Fatalf("%d steps are left; it says:\n%s", k.model.Left(), said)
		}
		ended := s.look(t, task)
		if run := s.newest(t, task); ended.Status != "review" || string(ended.Result) != `{"words":240}` || run.CheckpointCount != 1 {
			t.Errorf("%+v\n%+v\n%s", ended, run, said)
		}
		comments := s.In(t).Get(task.path() + "/comments")
		if !strings.Contains(string(comments.Body), "I am at it.") {
			t.Errorf("%s", comments.Body)
		}
	})
}

// prepare does what the recipe for processes wants beside its own block: Gemini CLI needs its settings.
func (k *kitchen) prepare(t *testing.T) {
	t.Helper()
	if k.name == "gemini" {
		k.configure(t, "")
	}
}

var configPattern = regexp.MustCompile(`(?s)--adapter-config - <<'END'\n(\{.*?\})\nEND\n`)

func TestTheTourHiresTheAgentOfARecipe(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../README.md")
	must(t, err)
	tour := configPattern.FindSubmatch(readme)
	recipe := configPattern.FindStringSubmatch(recipes(t, gatewayInRecipes)["claude-code process"].text + "\n")
	if tour == nil || recipe == nil || string(tour[1]) != recipe[1] {
		t.Errorf("the tour hires with %s, and the recipe with %s", tour, recipe)
	}
}

// hires hires the agent of the recipe for processes, as a person would, and leads its program to the scripted model.
func (k *kitchen) hires(t *testing.T, s *instance, in company) apiAgent {
	t.Helper()
	s.found(t, in, `{"name":"Research","headcount":1}`)
	s.keeps(t, in, k.secret, recipeKey)
	k.shell(t, t.TempDir(), k.recipe(t, "process").text,
		"HOLDCO_URL="+s.url, "HOLDCO_TOKEN="+string(rootToken), "HOLDCO_COMPANY="+in.ID)
	listed := s.In(t).Get(in.path() + "/agents")
	listed.Is(t, 200, "")
	hired := resttest.Data[[]apiAgent](t, listed)[0]
	var config map[string]any
	must(t, json.Unmarshal(hired.AdapterConfig, &config))
	variables := config["env"].(map[string]any)
	for name, value := range k.environ {
		if _, isGiven := variables[name]; !isGiven {
			variables[name] = value
		}
	}
	changed := s.In(t).Patch(hired.path(), string(mustJSON(t, map[string]any{"adapterConfig": config})))
	changed.Is(t, 200, "")
	hired = resttest.Data[apiAgent](t, changed)
	if found, missing := s.checks(t, hired); missing != "" {
		t.Errorf("a check of the recipe finds that something is missing: %+v", found)
	}
	return hired
}

func TestRecipesForProcessesWorkWithRealPrograms(t *testing.T) {
	t.Parallel()
	eachRealProgram(t, func(t *testing.T, s *instance, k *kitchen) {
		acme := s.create(t, draft(t, ""))
		k.prepare(t)
		ada := k.hires(t, s, acme)
		k.model.Script = []scriptedmodel.Step{
			calls("checkpoint", `{"lease":"${lease}","note":"Half of it."}`), {Text: "It has 240 words."}, {Text: "It has 480 words."},
		}
		task := s.named(t, acme, ada, `,"description":"With care."`)
		k.ends(t, s, task, 1, 2, "It has 240 words.")
		s.Post(task.path()+"/reject", `{"note":"Too short."}`).Is(t, 200, "")
		k.ends(t, s, task, 2, 1, "It has 480 words.")
		asked := k.model.Requests()
		last := asked[len(asked)-1].Body
		for _, part := range []string{"With care.", "Half of it.", "It has 240 words.", "Too short."} {
			if !strings.Contains(last, part) {
				t.Errorf("the second attempt does not know %q:\n%s", part, last)
			}
		}
	})
}

// ends waits for the end of an attempt, and checks its result and its costs.
func (k *kitchen) ends(t *testing.T, s *instance, task apiIssue, attempt, calls int, result string) {
	t.Helper()
	var runs []apiRun
	await(t, "the end of the attempt", func() bool {
		runs = resttest.Data[[]apiRun](t, s.In(t).Get(task.path()+"/runs"))
		return len(runs) == attempt && runs[0].Status != "running"
	})
	run := runs[0]
	log := s.logOf(t, task, run)
	if run.Status != "succeeded" {
		t.Fatalf("%+v\n%s", run, log)
	}
	var got string
	must(t, json.Unmarshal(s.reaches(t, task, "review").Result, &got))
	if got != result {
		t.Errorf("the result is %q", got)
	}
	k.costs(t, s, task, calls)
}

// costs checks the costs of the last run, to the last token.
func (k *kitchen) costs(t *testing.T, s *instance, task apiIssue, calls int) {
	t.Helper()
	var run apiRun
	want := k.call * float64(calls)
	await(t, "the costs", func() bool { // some are charged while the program runs, or after its run
		run = s.newest(t, task)
		cost, err := run.CostUsd.Float64()
		must(t, err)
		return cost*1e6 > want-0.5 && run.Status != "running"
	})
	cost, err := run.CostUsd.Float64()
	must(t, err)
	if cost*1e6 > want+0.5 {
		t.Errorf("attempt %d costs %s dollars, and not %g millionths", run.Attempt, run.CostUsd, want)
	}
	tokens := run.Tokens
	if tokens.Input != 400*calls || tokens.CacheRead != 600*calls || tokens.Output != 50*calls || tokens.CacheWrite != 0 {
		t.Errorf("attempt %d has %+v in %d calls", run.Attempt, tokens, calls)
	}
}

func TestACompletedRunOfARecipeIsChargedForItsLastWordsWithRealPrograms(t *testing.T) {
	t.Parallel()
	eachRealProgram(t, func(t *testing.T, s *instance, k *kitchen) {
		acme := s.create(t, draft(t, ""))
		k.prepare(t)
		ada := k.hires(t, s, acme)
		k.model.Script = []scriptedmodel.Step{
			calls("complete", `{"lease":"${lease}","result":{"words":240}}`), {Text: "It is done.", Delay: 2 * time.Second},
		}
		task := s.named(t, acme, ada, "")
		if ended := s.reaches(t, task, "review"); string(ended.Result) != `{"words":240}` {
			t.Errorf("the result is %s", ended.Result)
		}
		k.costs(t, s, task, 2)
		if k.model.Left() != 0 {
			t.Error("the program was stopped before its last words")
		}
	})
}

func TestTheRecipeOfAnotherMachineWorksWithRealPrograms(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		k := newKitchen(t, s, "claude-code")
		acme, ada := s.employ(t, "acme")
		task := s.named(t, acme, ada, "")
		k.model.Script = []scriptedmodel.Step{
			calls("checkpoint", `{"lease":"${lease}","note":"Half of it."}`), {Text: "It has 240 words."},
		}
		directory := t.TempDir()
		must(t, os.WriteFile(filepath.Join(directory, "ada.token"), []byte(ada.Token), 0o600))
		flags := "holdco work --once"
		for name := range k.environ {
			if name != "ANTHROPIC_API_KEY" { // which the recipe passes on
				flags += " --env " + name
			}
		}
		said := k.shell(t, directory, strings.Replace(k.recipe(t, "work").text, "holdco work", flags, 1))
		var result string
		must(t, json.Unmarshal(s.reaches(t, task, "review").Result, &result))
		if result != "It has 240 words." || !strings.Contains(said, "completed") {
			t.Errorf("%q; it says:\n%s", result, said)
		}
		k.costs(t, s, task, 2)
	})
}
