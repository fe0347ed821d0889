package agent_test

import (
	"testing"

	"holdco/domain/agent"
	"holdco/domain/company"
	"holdco/domain/fault"
	"holdco/domain/id"
)

func TestAnAgentIsACallerWhileItIsEmployedAndItsCompanyIsThere(t *testing.T) {
	t.Parallel()
	for _, status := range statuses {
		for _, of := range []company.Status{company.Active, company.Archived, company.Deleting} {
			credential, err := ada(status).Credential(company.Company{ID: acme, Status: of})
			if status == agent.Retired || of == company.Deleting {
				if fault.CodeOf(err) != fault.Unauthorized || credential.Caller != (agent.Caller{}) {
					t.Errorf("%s in a company that is %s: %+v, %v", status, of, credential, err)
				}
				continue
			}
			a := ada(status)
			want := agent.Caller{ID: adaID, Company: acme, Team: a.Team, Hash: a.Hash}
			if err != nil || credential.Caller != want {
				t.Errorf("%s in a company that is %s: %+v, %v", status, of, credential, err)
			}
			if credential.Actor() != "agent:agt_01h455vb4pex5vsknk084sn02q" {
				t.Errorf("the actor is %s", credential.Actor())
			}
		}
	}
}

func TestACredentialAcceptsTheTokenThatTheAgentHasNow(t *testing.T) {
	t.Parallel()
	rotated, _, err := ada(agent.Paused).RotateToken(newToken, later)
	if err != nil {
		t.Fatal(err)
	}
	credential, err := rotated.Credential(company.Company{ID: acme, Status: company.Active})
	if err != nil {
		t.Fatal(err)
	}
	for hash, want := range map[string]bool{token.Hash(): false, newToken.Hash(): true, "": false} {
		if credential.Accepts(hash, later) != want {
			t.Errorf("%q: %t", hash, !want)
		}
	}
}

func TestTheTokenOfARunDoesNotClaimAndReadsWhileTheRunLasts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		caller       agent.Caller
		claim, reads fault.Code
	}{
		"of an agent": {agent.Caller{ID: adaID}, "", ""},
		"of a run":    {agent.Caller{ID: adaID, Lease: "lse_some"}, fault.InsufficientScope, ""},
		"of one that is over": {
			agent.Caller{ID: adaID, Lease: "lse_some", IsOver: true}, fault.InsufficientScope, fault.Unauthorized,
		},
	} {
		if got := fault.CodeOf(c.caller.MayClaim()); got != c.claim {
			t.Errorf("%s, a claim: %q", name, got)
		}
		if got := fault.CodeOf(c.caller.MayRead()); got != c.reads {
			t.Errorf("%s, reading: %q", name, got)
		}
	}
}

func TestATokenThatHasEndedSinceIsNotAccepted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		agent    agent.Agent
		hash     string
		lease    id.Lease
		accepted bool
	}{
		"the token":                   {ada(agent.Active), ada(agent.Active).Hash, "", true},
		"of one who pauses":           {ada(agent.Paused), ada(agent.Paused).Hash, "", true},
		"of one who retired":          {ada(agent.Retired), ada(agent.Retired).Hash, "", false},
		"an old one":                  {ada(agent.Active), "another", "", false},
		"none: Holdco itself":         {ada(agent.Active), "", "", true},
		"of a run, beside an old one": {ada(agent.Active), "another", "lse_1", true},
		"of a run of one who retired": {ada(agent.Retired), "another", "lse_1", false},
	} {
		err := c.agent.StillAccepts(agent.Caller{ID: adaID, Company: acme, Hash: c.hash, Lease: c.lease})
		if (err == nil) != c.accepted || !c.accepted && fault.CodeOf(err) != fault.Unauthorized {
			t.Errorf("%s: %v", name, err)
		}
	}
}
