// Lets Node.js before 22, whose module fs has no globSync, import the conformance suite. Nothing that the test runs calls it.
import fs from "node:fs";
import { register } from "node:module";

const shim = `export * from "node:fs"; export { default } from "node:fs"; export const globSync = () => [];`;
const hooks = `export const resolve = (specifier, context, next) =>
  specifier === "fs" && context.parentURL?.includes("/@modelcontextprotocol/conformance/")
    ? { url: "data:text/javascript," + ${JSON.stringify(encodeURIComponent(shim))}, shortCircuit: true }
    : next(specifier, context);`;

if (!fs.globSync) register("data:text/javascript," + encodeURIComponent(hooks));
