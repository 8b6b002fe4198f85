// Previews of images, without trust: only bytes that begin as PNG, JPEG, GIF or WebP, as that type,
// decoded by the browser into pixels on a canvas. Nothing of it is ever a document.

const MOST_PIXELS = 64e6;
export const MOST_IMAGE_BYTES = 32 << 20;

const ascii = (bytes, at, length) => String.fromCharCode(...bytes.subarray(at, at + length));
const starts = (bytes, ...wanted) => wanted.every((byte, i) => bytes[i] === byte);

// The type that the first bytes show, or null.
export function typeOf(bytes) {
  if (starts(bytes, 0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)) return "image/png";
  if (starts(bytes, 0xff, 0xd8, 0xff)) return "image/jpeg";
  if (/^GIF8[79]a$/.test(ascii(bytes, 0, 6))) return "image/gif";
  if (ascii(bytes, 0, 4) === "RIFF" && ascii(bytes, 8, 4) === "WEBP") return "image/webp";
  return null;
}

function sizeOfJpeg(view) {
  let at = 2;
  while (at + 9 < view.byteLength && view.getUint8(at) === 0xff) {
    const marker = view.getUint8(at + 1);
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return [view.getUint16(at + 7), view.getUint16(at + 5)];
    at += marker === 0xff ? 1 : 2 + view.getUint16(at + 2);
  }
  return null;
}

function sizeOfWebp(bytes, view) {
  const kind = ascii(bytes, 12, 4);
  if (kind === "VP8X") {
    return [24, 27].map((at) => 1 + view.getUint16(at, true) + (view.getUint8(at + 2) << 16));
  }
  if (kind === "VP8L") {
    const bits = view.getUint32(21, true);
    return [1 + (bits & 0x3fff), 1 + ((bits >>> 14) & 0x3fff)];
  }
  return [view.getUint16(26, true) & 0x3fff, view.getUint16(28, true) & 0x3fff];
}

// [width, height] as the header says, before anything is decoded; null when it does not.
export function sizeOf(bytes, type) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    if (type === "image/png") return [view.getUint32(16), view.getUint32(20)];
    if (type === "image/gif") return [view.getUint16(6, true), view.getUint16(8, true)];
    if (type === "image/jpeg") return sizeOfJpeg(view);
    return sizeOfWebp(bytes, view);
  } catch {
    return null;
  }
}

// A canvas with the image, no larger than `most` pixels either way; null when it is none, or one
// that would take too much memory.
export async function draw(bytes, most) {
  const type = typeOf(bytes);
  const size = type && sizeOf(bytes, type);
  if (!size || size[0] * size[1] === 0 || size[0] * size[1] > MOST_PIXELS) return null;
  let bitmap;
  try {
    bitmap = await createImageBitmap(new Blob([bytes], {type}));
  } catch {
    return null;
  }
  const scale = Math.min(1, most / Math.max(bitmap.width, bitmap.height));
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(bitmap.width * scale));
  canvas.height = Math.max(1, Math.round(bitmap.height * scale));
  canvas.getContext("2d").drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  bitmap.close();
  return {canvas, type, width: size[0], height: size[1]};
}
