import {
  createFileRegistry,
  fromBinary,
  type DescExtension,
  type DescFile,
  type DescMessage,
  type FileRegistry,
} from '@bufbuild/protobuf';
import { nestedTypes } from '@bufbuild/protobuf/reflect';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { descriptorSet } from './generated/descriptor-set.ts';

/** A .proto file as a compiler describes it. */
export interface ProtoFile {
  /** As files import it, such as `mutirao/common/v1/common.proto`. */
  readonly name: string;
  /** Its FileDescriptorProto, encoded. */
  readonly bytes: Buffer;
  /** What it imports. */
  readonly dependencies: readonly ProtoFile[];
}

/** The compiled files of the API and all that they import. Making it takes some milliseconds. */
export class ProtoFiles {
  readonly registry: FileRegistry;
  readonly #byName = new Map<string, ProtoFile>();
  readonly #bySymbol = new Map<string, ProtoFile>();
  readonly #extensions = new Map<string, Map<number, ProtoFile>>();

  /** @param set a FileDescriptorSet, each file behind those that it imports; the published API when left out. */
  constructor(set: Uint8Array = Buffer.from(descriptorSet, 'base64')) {
    this.registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, set));
    const encoded = getFiles(set);
    for (const [index, file] of [...this.registry.files].entries()) this.#add(file, encoded[index] ?? Buffer.alloc(0));
  }

  /** All files, each behind those that it imports. */
  all(): ProtoFile[] {
    return [...this.#byName.values()];
  }

  findFile(name: string): ProtoFile | undefined {
    return this.#byName.get(name);
  }

  /**
   * The file that declares a service, method, message, field, oneof, enum, value or extension. @param symbol its full
   * name, without a leading dot.
   */
  findSymbol(symbol: string): ProtoFile | undefined {
    return this.#bySymbol.get(symbol);
  }

  /** The file that extends a message by a field of this number. */
  findExtension(message: string, number: number): ProtoFile | undefined {
    return this.#extensions.get(message)?.get(number);
  }

  /** The numbers of all extensions of a message, sorted; undefined where there is no such message. */
  extensionNumbers(message: string): number[] | undefined {
    if (this.registry.getMessage(message) === undefined) return undefined;
    return [...(this.#extensions.get(message)?.keys() ?? [])].sort((one, other) => one - other);
  }

  #add(described: DescFile, bytes: Buffer): void {
    const { name, dependency } = described.proto;
    const file = {
      name,
      bytes,
      dependencies: dependency.map((imported) => this.#byName.get(imported)).filter((found) => found !== undefined),
    };
    this.#byName.set(name, file);
    for (const type of nestedTypes(described)) {
      this.#bySymbol.set(type.typeName, file);
      if (type.kind === 'service')
        for (const { name: method } of type.methods) this.#bySymbol.set(`${type.typeName}.${method}`, file);
      else if (type.kind === 'message') this.#addParts(type, file);
      else if (type.kind === 'extension') this.#addExtension(type, file);
      // The values of an enum are in the scope that contains it, as in C++.
      else for (const { name: value } of type.values) this.#bySymbol.set(`${getScope(type.typeName)}${value}`, file);
    }
  }

  #addParts({ typeName, fields, oneofs }: DescMessage, file: ProtoFile): void {
    for (const { name } of [...fields, ...oneofs]) this.#bySymbol.set(`${typeName}.${name}`, file);
    // The library hides the messages that stand for the entries of maps.
    for (const { fieldKind, proto } of fields) {
      const entry = proto.typeName.slice(1);
      if (fieldKind === 'map')
        for (const symbol of [entry, `${entry}.key`, `${entry}.value`]) this.#bySymbol.set(symbol, file);
    }
  }

  #addExtension({ extendee, number }: DescExtension, file: ProtoFile): void {
    const numbers = this.#extensions.get(extendee.typeName) ?? new Map<number, ProtoFile>();
    this.#extensions.set(extendee.typeName, numbers.set(number, file));
  }
}

function getScope(name: string): string {
  return name.slice(0, name.lastIndexOf('.') + 1);
}

/** The files of a FileDescriptorSet as they are encoded there: decoding and encoding them again could lose options. */
function getFiles(set: Uint8Array): Buffer[] {
  const files: Buffer[] = [];
  const reader = new BinaryReader(set);
  while (reader.pos < reader.len) {
    reader.uint32(); // `file` is the only field of the set.
    files.push(Buffer.from(reader.bytes()));
  }
  return files;
}

/** A field and what it takes of a message. */
export interface FieldShare {
  /** From the message down, joined by dots; empty for none. */
  readonly name: string;
  readonly bytes: number;
}

/** The field that most of an encoded message is of, as deep down as one field has more than half. */
export function largestField(message: Uint8Array, type: DescMessage): FieldShare {
  const parts = getParts(message);
  const field = type.fields.find(({ number }) => 2 * (parts.get(number)?.bytes ?? 0) > message.length);
  const part = field === undefined ? undefined : parts.get(field.number);
  if (field === undefined || part === undefined) return { name: '', bytes: 0 };
  const inner =
    field.message === undefined || part.only === undefined ? undefined : largestField(part.only, field.message);
  return inner === undefined || inner.name === ''
    ? { name: field.name, bytes: part.bytes }
    : { name: `${field.name}.${inner.name}`, bytes: inner.bytes };
}

interface Part {
  bytes: number;
  /** The field's value, where it has one only. */
  only: Uint8Array | undefined;
}

/** What each field of an encoded message takes, by its number. */
function getParts(message: Uint8Array): Map<number, Part> {
  const parts = new Map<number, Part>();
  const reader = new BinaryReader(message);
  while (reader.pos < reader.len) {
    const begin = reader.pos;
    const [number, wireType] = reader.tag();
    const value = wireType === WireType.LengthDelimited ? reader.bytes() : undefined;
    if (value === undefined) reader.skip(wireType, number);
    const known = parts.get(number);
    if (known === undefined) parts.set(number, { bytes: reader.pos - begin, only: value });
    else Object.assign(known, { bytes: known.bytes + reader.pos - begin, only: undefined });
  }
  return parts;
}
