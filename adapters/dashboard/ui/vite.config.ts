import react from "@vitejs/plugin-react"
import { defineConfig } from "vite"

const server = process.env.HOLDCO_DASHBOARD ?? "http://127.0.0.1:3101"

export default defineConfig({
  plugins: [react()],
  build: {
    outDir: "../dist",
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    sourcemap: false,
    cssCodeSplit: false, // what is restarted while a page loads would leave it without its looks
    modulePreload: { polyfill: false },
    license: { fileName: "licenses.txt" },
  },
  server: { proxy: { "/v1": { target: server }, "/session": { target: server } } },
})
