// What an API server shows to the API servers that it passes requests on to: a client certificate and headers with the user.
import { createAuthority } from "./pki.ts";

export const FRONT_PROXY = "front-proxy-client";

export interface FrontProxy extends AsyncDisposable {
  readonly flags: readonly string[];
  /** What servers behind it hold the certificate against, PEM. */
  readonly caPem: string;
}

export async function openFrontProxy(): Promise<FrontProxy> {
  const authority = await createAuthority("archway test front proxy");
  const { certificatePem, keyPem } = await authority.issue({ commonName: FRONT_PROXY, usage: "client" });
  const directory = await Deno.makeTempDir({ prefix: "archway-front-proxy-" });
  const files = { "ca.crt": authority.certificatePem, "client.crt": certificatePem, "client.key": keyPem };
  for (const [name, text] of Object.entries(files)) {
    await Deno.writeTextFile(`${directory}/${name}`, text, { mode: 0o600 });
  }
  return {
    flags: [
      `--requestheader-client-ca-file=${directory}/ca.crt`,
      `--requestheader-allowed-names=${FRONT_PROXY}`,
      "--requestheader-username-headers=X-Remote-User",
      "--requestheader-group-headers=X-Remote-Group",
      "--requestheader-extra-headers-prefix=X-Remote-Extra-",
      `--proxy-client-cert-file=${directory}/client.crt`,
      `--proxy-client-key-file=${directory}/client.key`,
      // By its name, which a Service without a selector and an address of its own can give.
      "--enable-aggregator-routing=false",
    ],
    caPem: authority.certificatePem,
    [Symbol.asyncDispose]: () => Deno.remove(directory, { recursive: true }),
  };
}
