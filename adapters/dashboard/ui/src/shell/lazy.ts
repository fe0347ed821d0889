import { lazyRouteComponent as lazily } from "@tanstack/react-router"
import { answers } from "../api/client"

// arrived loads a part of the dashboard. While the server is away it waits: the router would leave the page, with all that was typed,
// for one that the browser cannot show. What does not load from a server that answers is of another version, and left to the router.
async function arrived<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch {
    for (let pause = 250; !(await answers()); pause = Math.min(2 * pause, 4_000))
      await new Promise((done) => setTimeout(done, pause))
    return load()
  }
}

// lazyRouteComponent is that of the router, for pages of a server that is restarted now and then.
export const lazyRouteComponent: typeof lazily = (load, name) => lazily(() => arrived(load), name)
