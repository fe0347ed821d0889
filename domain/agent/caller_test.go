package agent_test

import (
	"testing"

	"holdco/domain/agent"
	"holdco/domain/company"
	"holdco/domain/fault"
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
			if want := (agent.Caller{ID: adaID, Company: acme}); err != nil || credential.Caller != want {
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
