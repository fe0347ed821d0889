// Does an issue from its title to its end, with clients whose types openapi-typescript made of the OpenAPI documents.
import createClient from "openapi-fetch";
import type { paths as Export } from "./export.js";
import type { paths as Gateway } from "./gateway.js";
import type { paths as Rest } from "./rest.js";

declare const process: { env: Record<string, string> };
const { HOLDCO_URL, HOLDCO_TOKEN, HOLDCO_GATEWAY_URL, HOLDCO_EXPORT_URL, HOLDCO_PARTNER_KEY } = process.env;

/** The data of an answer, which has to be a success. */
function of<T>(answer: { data?: { data: T }; error?: unknown; response: Response }): T {
  if (answer.data === undefined) {
    throw new Error(`${answer.response.status} ${JSON.stringify(answer.error)}`);
  }
  return answer.data.data;
}

const rest = createClient<Rest>({ baseUrl: HOLDCO_URL!, headers: { Authorization: `Bearer ${HOLDCO_TOKEN}` } });
const company = of(await rest.POST("/v1/companies", { body: { name: "Acme", slug: "acme", budget: { usd: 100 } } }));
const path = { id: company.id };
const team = of(await rest.POST("/v1/companies/{id}/teams", { params: { path }, body: { name: "Sales", headcount: 1 } }));
const agent = of(
  await rest.POST("/v1/companies/{id}/agents", {
    params: { path },
    body: { teamId: team.id, name: "Ada", role: "Engineer" },
  }),
);
const issue = of(await rest.POST("/v1/companies/{id}/issues", { params: { path }, body: { title: "Write the letter" } }));

const gateway = createClient<Gateway>({ baseUrl: HOLDCO_GATEWAY_URL!, headers: { Authorization: `Bearer ${agent.token}` } });
const claimed = of(await gateway.POST("/gateway/v1/leases", { body: {} }));
if (claimed.issue.id !== issue.id) {
  throw new Error(`the lease is of ${claimed.issue.id}`);
}
const { fencingToken } = claimed;
const params = { path: { lease: claimed.leaseId } };
const costs = [{ key: "first", kind: "tools" as const, usd: 0.5 }];
const stale = await gateway.POST("/gateway/v1/leases/{lease}/costs", {
  params,
  body: { fencingToken: fencingToken + 1, costs },
});
if (stale.error?.error.code !== "stale_lease") {
  throw new Error(`${stale.response.status} ${JSON.stringify(stale.error)}`);
}
of(await gateway.POST("/gateway/v1/leases/{lease}/costs", { params, body: { fencingToken, costs } }));
of(await gateway.POST("/gateway/v1/leases/{lease}/complete", { params, body: { fencingToken } }));

const partner = createClient<Export>({ baseUrl: HOLDCO_EXPORT_URL!, headers: { Authorization: `Bearer ${HOLDCO_PARTNER_KEY}` } });
of(await partner.GET("/api/external/me"));
console.log("done");
