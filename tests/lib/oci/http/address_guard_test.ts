import assert from "node:assert/strict";
import { guardAddress, isAllowedAddress } from "../../../../lib/oci/http/address_guard.ts";
import { errorOf } from "../../../support/inspectors.ts";

const DENIED = [
  "127.0.0.1",
  "127.8.9.1",
  "0.0.0.0",
  "169.254.169.254",
  "169.254.1.1",
  "100.100.100.200",
  "168.63.129.16",
  "192.0.0.192",
  "224.0.0.1",
  "255.255.255.255",
  "::",
  "::1",
  "fe80::1",
  "ff02::1",
  "fd00:ec2::254",
  "fd00:ec2::23",
  "fd20:ce::254",
  "fd00:c1::a9fe:a9fe",
  "::ffff:127.0.0.1",
  "::ffff:169.254.169.254",
  "64:ff9b::169.254.169.254",
  "64:ff9b::7f00:1",
  "64:ff9b:1::7f00:1",
  "::ffff:100.100.100.200",
  "0.1.2.3",
  "169.254.170.2",
  "fe80::1%eth0",
  "::7f00:1",
  "::a9fe:a9fe",
  "::ffff:0:7f00:1",
  "2002:7f00:1::",
  "not an address",
  "",
];

for (const address of DENIED) {
  Deno.test(`isAllowedAddress() denies ${JSON.stringify(address)}`, () =>
    assert.equal(isAllowedAddress(address), false));
}

const ALLOWED = [
  "10.0.0.1",
  "192.168.1.1",
  "172.16.5.4",
  "fd12::1",
  "93.184.216.34",
  "2606:2800::1",
  "64:ff9b::5db8:d822",
];

for (const address of ALLOWED) {
  Deno.test(`isAllowedAddress() allows ${address}, private ranges included`, () => {
    assert.equal(isAllowedAddress(address), true);
  });
}

function guard(host: string, addresses: readonly string[]): Promise<readonly string[]> {
  return guardAddress(host, { resolve: () => Promise.resolve(addresses), signal: new AbortController().signal });
}

Deno.test("guardAddress() denies a name when any of its addresses is denied", async () => {
  const { failure, message } = await errorOf(guard("rebind.example", ["93.184.216.34", "127.0.0.1"]));
  assert.equal(failure.reason, "AddressDenied");
  assert.match(message, /--registry rebind\.example/);
  await guard("registry.example", ["93.184.216.34"]);
});

Deno.test("guardAddress() sees through every spelling of an IPv4 address", async () => {
  for (const host of ["2130706433", "0x7f.1", "127.1:5000", "0177.0.0.1", "[::1]:5000", "[::ffff:7f00:1]"]) {
    await assert.rejects(guard(host, []), /AddressDenied|loopback/, host);
  }
});
