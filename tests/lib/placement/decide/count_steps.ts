// Counts the elements of lists that some work visits: a measure of its time that is the same on every machine.

/** Methods that call back for an element at a time. */
const CALLING = ["some", "every", "find", "findIndex", "findLast", "filter", "map", "flatMap", "forEach", "reduce"];
/** Methods that visit elements by themselves, all of them as a rule. */
const SCANNING = [
  "includes",
  "indexOf",
  "lastIndexOf",
  "join",
  "slice",
  "concat",
  "flat",
  "sort",
  "toSorted",
  "toReversed",
];

type Method = (this: readonly unknown[], ...args: readonly unknown[]) => unknown;
type Count = (steps: number) => void;

/** Runs the work with lists that count, and returns how many of their elements it visited. */
export function countSteps(work: () => void): number {
  let steps = 0;
  const count: Count = (more) => {
    steps += more;
  };
  const replacements: readonly (readonly [string | symbol, (original: Method) => Method])[] = [
    ...CALLING.map((name) => [name, (original: Method) => countCalls(original, count)] as const),
    ...SCANNING.map((name) => [name, (original: Method) => countScan(original, count)] as const),
    [Symbol.iterator, (original: Method) => countIteration(original, count)],
  ];
  const originals = replacements.map(([name]) => [name, Reflect.get(Array.prototype, name) as Method] as const);
  const counting = replacements.map(([name, make]) =>
    [name, make(Reflect.get(Array.prototype, name) as Method)] as const
  );
  counting.forEach(replaceMethod);
  try {
    work();
  } finally {
    originals.forEach(replaceMethod);
  }
  return steps;
}

function replaceMethod([name, value]: readonly [string | symbol, Method]): void {
  Object.defineProperty(Array.prototype, name, { value, configurable: true, writable: true });
}

function countCalls(original: Method, count: Count): Method {
  return function (callback, ...rest): unknown {
    const call = (...args: readonly unknown[]): unknown => {
      count(1);
      return Reflect.apply(callback as Method, undefined, args);
    };
    return Reflect.apply(original, this, [call, ...rest]);
  };
}

function countScan(original: Method, count: Count): Method {
  return function (...args): unknown {
    count(this.length);
    return Reflect.apply(original, this, args);
  };
}

function countIteration(original: Method, count: Count): Method {
  return function (): unknown {
    const iterator = Reflect.apply(original, this, []) as Iterator<unknown>;
    const next = (): IteratorResult<unknown> => {
      count(1);
      return iterator.next();
    };
    return Object.assign(Object.create(Iterator.prototype), { next });
  };
}
