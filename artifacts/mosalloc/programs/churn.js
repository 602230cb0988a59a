// node: old and new space, buffers outside the heap, JSON, hashes, worker threads, compiled code that is
// thrown away, a WebAssembly memory that grows and whose bounds are enforced by guard pages.
// Prints checksums that depend on nothing but this file.
'use strict';
const crypto = require('crypto');
const { Worker, isMainThread, parentPort, workerData } = require('worker_threads');

function random(seed) { // LCG of Numerical Recipes
  let state = seed >>> 0;
  return () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0);
}

function hash(text) {
  return crypto.createHash('sha256').update(text).digest('hex');
}

function heap(seed, rounds) {
  const next = random(seed);
  let kept = [];
  let sum = 0;
  for (let round = 0; round < rounds; round++) {
    const records = [];
    for (let i = 0; i < 20000; i++) records.push({ id: next() % 100000, name: `n${next() % 977}`, tags: [i, i * 2] });
    kept.push(new Map(records.map((r) => [r.id, r])));
    if (kept.length > 3) kept.shift(); // old space fills and is collected
    const copy = JSON.parse(JSON.stringify(records));
    for (const r of copy) sum = (sum + r.id * 31 + r.name.length + r.tags[1]) % 1000003;
  }
  return `${sum} ${kept.map((m) => m.size).join(',')}`;
}

function buffers(seed) {
  const next = random(seed);
  const digest = crypto.createHash('sha256');
  for (let i = 0; i < 60; i++) {
    const buffer = Buffer.alloc(1 + (next() % (1 << 20)));
    if (buffer[buffer.length - 1] !== 0 || buffer[buffer.length >> 1] !== 0) throw new Error('not zeroed');
    for (let at = 0; at < buffer.length; at += 997) buffer[at] = next();
    digest.update(buffer);
  }
  return digest.digest('hex');
}

function compiled() { // machine code is written, protected, run, and freed
  let sum = 0;
  for (let i = 0; i < 300; i++) {
    const f = new Function('n', `let s = ${i}; for (let k = 0; k < n; k++) s = (s * 31 + k) % 1000003; return s;`);
    sum = (sum + f(3000)) % 1000003;
  }
  return sum;
}

// (module (memory (export "m") 1 64)
//   (func (export "load") (param i32) (result i32) local.get 0 i32.load)
//   (func (export "grow") (param i32) (result i32) local.get 0 memory.grow))
const MODULE = new Uint8Array([
  0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00, // magic, version
  0x01, 0x06, 0x01, 0x60, 0x01, 0x7f, 0x01, 0x7f, // type: i32 -> i32
  0x03, 0x03, 0x02, 0x00, 0x00, // two functions of that type
  0x05, 0x04, 0x01, 0x01, 0x01, 0x40, // memory: 1 to 64 pages
  0x07, 0x13, 0x03, 0x01, 0x6d, 0x02, 0x00, 0x04, 0x6c, 0x6f, 0x61, 0x64, 0x00, 0x00,
  0x04, 0x67, 0x72, 0x6f, 0x77, 0x00, 0x01, // exports m, load, grow
  0x0a, 0x10, 0x02, 0x07, 0x00, 0x20, 0x00, 0x28, 0x02, 0x00, 0x0b,
  0x06, 0x00, 0x20, 0x00, 0x40, 0x00, 0x0b, // code
]);

function traps(f) {
  try {
    f();
  } catch (error) {
    return error instanceof WebAssembly.RuntimeError;
  }
  return false;
}

function webassembly() {
  const { m, load, grow } = new WebAssembly.Instance(new WebAssembly.Module(MODULE)).exports;
  const steps = [];
  for (let pages = 1; pages <= 64; pages *= 2) {
    const bytes = pages * 65536;
    new Int32Array(m.buffer)[bytes / 4 - 1] = pages;
    if (load(bytes - 4) !== pages) throw new Error('wrong value in a WebAssembly memory');
    if (!traps(() => load(bytes))) throw new Error(`no trap at ${bytes}, just past the memory`);
    if (!traps(() => load(-4))) throw new Error('no trap at 4GB');
    if (load(0) !== 0 && pages > 1) throw new Error('contents lost by growing');
    steps.push(grow(pages));
  }
  return steps.join(',');
}

function recursion() { // the stack's end is an exception, not a crash
  const deep = (n) => deep(n + 1) + 1;
  try {
    deep(0);
  } catch (error) {
    return error instanceof RangeError;
  }
  return false;
}

async function main() {
  const workers = [3, 4].map(
    (seed) =>
      new Promise((resolve, reject) => {
        const worker = new Worker(__filename, { workerData: seed });
        worker.on('message', resolve);
        worker.on('error', reject);
      }),
  );
  console.log(`heap ${hash(heap(1, 12))}`);
  console.log(`buffers ${buffers(2)}`);
  console.log(`compiled ${compiled()}`);
  console.log(`webassembly ${webassembly()}`);
  console.log(`recursion ${recursion()}`);
  console.log(`workers ${(await Promise.all(workers)).join(' ')}`);
  const zipped = require('zlib').gzipSync(Buffer.alloc(4 << 20, 'mosaic'));
  console.log(`zlib ${require('zlib').gunzipSync(zipped).length}`);
}

if (isMainThread) main();
else parentPort.postMessage(hash(heap(workerData, 5) + buffers(workerData)));
