// Finishes the next issue with the official client of the Model Context Protocol.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const client = new Client({ name: "test", version: "1" });
await client.connect(new StreamableHTTPClientTransport(new URL(process.env.HOLDCO_MCP_URL), {
  requestInit: { headers: { Authorization: `Bearer ${process.env.HOLDCO_AGENT_TOKEN}` } },
}));

const call = async (name, args) => {
  const result = await client.callTool({ name, arguments: args });
  if (result.isError) throw new Error(`${name}: ${result.content[0].text}`);
  return result.structuredContent;
};

const { tools } = await client.listTools();
const { lease } = await call("claim", { wait: 5 });
await call("checkpoint", { lease, note: "Begun." });
await call("report_cost", { lease, costs: [{ key: "1", kind: "llm", model: "some", tokens: { input: 10, output: 2 } }] });
const { issue } = await call("complete", { lease, result: { text: "Hello" } });
console.log(`${tools.length} tools; ${issue.status}`);
await client.close();
