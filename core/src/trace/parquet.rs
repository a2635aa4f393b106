//! Parquet: int64 columns `t_ns` and `d_ns`, and `bytes` if LLDUs differ in size, with the keys of
//! the text format as metadata.
//!
//! Columns are read in parts directly into the memory of the trace, and written from it without a
//! copy, so that a trace occupies memory once. Files may be compressed with snappy, zstd or LZ4;
//! gzip and brotli are refused, because the unpacked size of their pages is not bounded.

use std::cell::Cell;
use std::io::{self, Cursor, Read, SeekFrom, Write};
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Mutex, OnceLock};

use ::parquet::basic::{
    Compression, ConvertedType, Encoding, LogicalType, Repetition, Type as Physical, ZstdLevel,
};
use ::parquet::column::reader::{ColumnReader, get_column_reader};
use ::parquet::column::writer::ColumnWriter;
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::{
    ColumnChunkMetaData, KeyValue, ParquetMetaData, ParquetMetaDataReader,
};
use ::parquet::file::properties::{EnabledStatistics, WriterProperties};
use ::parquet::file::reader::{ChunkReader, Length};
use ::parquet::file::serialized_reader::SerializedPageReader;
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::types::{ColumnDescriptor, ColumnPath, SchemaDescriptor, Type};
use bytes::Bytes as Shared;

use crate::budget::Budget;
use crate::sync::lock;
use crate::trace::checksum::Checksums;
use crate::trace::column::MOST;
use crate::trace::error::{Fault, ReadError, Snippet, TOO_LATE};
use crate::trace::file::{FormatRow, Reads, Writes};
use crate::trace::files::Source;
use crate::trace::keys::{Keys, keys};
use crate::trace::text::DEFAULT_LLDU;
use crate::trace::thrift::{FILE, PAGE, claims_too_much};
use crate::trace::{PhyTrace, Sizes};
use crate::units::Bytes;

pub(super) const FORMAT: FormatRow = FormatRow {
    name: "parquet",
    suffixes: &["parquet"],
    doc: "CLIFT's own, as Parquet.",
    read: Some(|how, input| match ENABLED.get() {
        Some((read, _)) => read(how, input),
        None => {
            let place = input.files.place(&how.file);
            let cure = format!("convert the trace: clift trace convert {place} trace.csv");
            let fault = Fault::Text(format!("this program does not read Parquet; {cure}"));
            Err(input.fault(&how.file, fault))
        }
    }),
    write: Some(|phy, how, out| match ENABLED.get() {
        Some((_, write)) => write(phy, how, out),
        None => Err(io::Error::new(io::ErrorKind::Unsupported, "Parquet is not enabled").into()),
    }),
    ..FormatRow::NAMED
};

/// Name of the schema in files that have the key `checksum`.
const ROOT: &str = "clift";

static ENABLED: OnceLock<(Reads, Writes)> = OnceLock::new();

/// Lets this program read and write traces in Parquet files.
///
/// A program that does not call this contains no code of the crate `parquet` once it is linked.
/// The adapters for ns-2 and ns-3 need that: their licence is GPL-2.0-only, that of `parquet` and
/// some of its dependencies Apache-2.0, and the two do not go together.
///
/// ```
/// use clift::trace::{Folder, TraceFile, parquet};
/// let read = || TraceFile::new("none.parquet").read(&Folder::new("."));
/// let missing = || read().unwrap_err().to_string();
/// assert!(missing().contains("does not read Parquet"));
/// parquet::enable();
/// assert!(missing().contains("cannot be opened"));
/// ```
///
/// Panics of that crate, which damaged files cause, are errors of the file from then on, and no longer
/// printed.
pub fn enable() {
    ENABLED.get_or_init(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |about| {
            if !READING.get() {
                usual(about);
            }
        }));
        (
            |how, input| {
                input.parsed_anywhere(&how.file, |file| read(file, how.lldu, input.budget))
            },
            |phy, _, out| Ok(write(phy, out)?),
        )
    });
}

thread_local! {
    /// Whether this thread reads a file, so that a panic is caught.
    static READING: Cell<bool> = const { Cell::new(false) };
}

/// The key of a link trace.
pub(super) const LINK_TRACE: &str = "clift-link-trace";

/// Rows per row group when writing.
const ROW_GROUP: usize = 1 << 20;
/// Rows read at a time.
const PART: usize = 1 << 16;
/// A file that claims more rows per byte is damaged: regular slots, which compress best, take about
/// one byte per ten thousand.
const MOST_ROWS_PER_BYTE: u64 = 1 << 16;

/// Reads a trace. `lldu` overrides the size given by the file. Foreign metadata keys and further
/// columns are ignored.
///
/// ```
/// use std::io::Cursor;
/// use clift::budget::Budget;
/// use clift::trace::{PhyTrace, parquet};
/// use clift::units::Bytes;
/// let phy = PhyTrace::new(vec![0, 10].into(), vec![5, 0].into(), Bytes(40))?;
/// let mut file = Vec::new();
/// parquet::write(&phy, &mut file).unwrap();
/// let back = parquet::read(Box::new(Cursor::new(file)), None, &Budget::unlimited()).unwrap();
/// assert_eq!((back.t(), back.d(), back.lldu()), (phy.t(), phy.d(), Bytes(40)));
/// # Ok::<(), clift::trace::Fault>(())
/// ```
///
/// # Errors
/// A [`ReadError`] if the file is not Parquet, is truncated or damaged, or does not hold a trace.
pub fn read(
    source: Box<dyn Source>,
    lldu: Option<Bytes>,
    budget: &Budget<'_>,
) -> Result<PhyTrace, ReadError> {
    // The parquet crate trusts the content of some pages, so that damaged files may make it panic.
    READING.set(true);
    let read = panic::catch_unwind(AssertUnwindSafe(|| read_whole(source, lldu, budget)));
    READING.set(false);
    read.unwrap_or_else(|_| Err(damage("its content contradicts itself")))
}

fn read_whole(
    source: Box<dyn Source>,
    lldu: Option<Bytes>,
    budget: &Budget<'_>,
) -> Result<PhyTrace, ReadError> {
    let file = Arc::new(RandomAccessFile::new(source)?);
    let metadata = ParquetMetaDataReader::decode_metadata(&file.footer()?).map_err(damaged)?;
    let mut keys = read_keys(&metadata)?;
    let schema = metadata.file_metadata().schema_descr();
    let mut columns = vec![Column::find(schema, "t_ns")?, Column::find(schema, "d_ns")?];
    // The size given by the caller takes precedence over that of the file.
    let sized = lldu.is_none() && Column::is_there(schema, "bytes");
    if sized {
        columns.push(Column::find(schema, "bytes")?);
    }
    let rows = claimed_rows(&metadata, file.len)?;
    let mut values: Vec<Vec<i64>> = vec![Vec::new(); columns.len()];
    let all = 8 * rows as u64 * columns.len() as u64 + largest_page(&metadata, &columns);
    let what = format!("{rows} slots");
    budget.take(all, &what)?;
    for column in &mut values {
        // The budget was taken for all columns above.
        Budget::unlimited().reserve(column, rows as u64, &what)?;
    }
    for group in metadata.row_groups() {
        let rows = usize::try_from(group.num_rows()).map_err(|_| damage(CLAIM))?;
        for (column, values) in columns.iter().zip(&mut values) {
            let chunk = group.columns().get(column.index);
            let chunk = chunk.ok_or_else(|| damage("a row group lacks columns"))?;
            column.read(&file, chunk, rows, values, budget)?;
        }
    }
    keys.sums.header(schema.columns().iter().map(|about| about.name()));
    for (column, values) in columns.iter().zip(&values) {
        keys.sums.integers(column.index, values);
    }
    // Damage can make the reader lose all keys at once.
    if schema.root_schema().name() == ROOT && !keys.has_checksum() {
        return Err(damage("its checksum is missing"));
    }
    let names: Vec<_> = columns.iter().map(|column| (column.index, column.name)).collect();
    keys.check(&names)?;
    let mut values = values.into_iter();
    let mut next = || values.next().unwrap_or_default();
    let (t, d, bytes) = (next(), next(), next());
    let sizes = match sized {
        true => Sizes::each(bytes.into())?,
        false => lldu.or(keys.lldu).unwrap_or(DEFAULT_LLDU).into(),
    };
    Ok(PhyTrace::with_header(t.into(), d.into(), sizes, keys.header)?)
}

/// Upper bound on the unpacked size of a page of these columns: the size of its chunk, and less
/// than the 2 GiB that a page header can express.
fn largest_page(metadata: &ParquetMetaData, columns: &[Column]) -> u64 {
    let chunks = metadata
        .row_groups()
        .iter()
        .flat_map(|group| columns.iter().filter_map(|column| group.columns().get(column.index)));
    let packed = chunks.filter(|chunk| chunk.compression() != Compression::UNCOMPRESSED);
    let sizes = packed.map(|chunk| u64::try_from(chunk.uncompressed_size()).unwrap_or(0));
    sizes.max().unwrap_or(0).min(1 << 31)
}

const CLAIM: &str = "it claims more rows than it can hold";
const HEADERS: &str = "its headers claim more than they can hold";

/// Rows of all groups, if a file of `len` bytes can hold them.
fn claimed_rows(metadata: &ParquetMetaData, len: u64) -> Result<usize, ReadError> {
    let rows = metadata
        .row_groups()
        .iter()
        .try_fold(0u64, |sum, group| sum.checked_add(u64::try_from(group.num_rows()).ok()?));
    let rows = rows.ok_or_else(|| damage(CLAIM))?;
    if rows > MOST {
        return Err(ReadError::File(Fault::TooMany(MOST)));
    }
    if rows / MOST_ROWS_PER_BYTE > len {
        return Err(damage(CLAIM));
    }
    usize::try_from(rows).map_err(|_| ReadError::File(Fault::TooMany(rows)))
}

fn read_keys(metadata: &ParquetMetaData) -> Result<Keys, ReadError> {
    let mut found = Keys::default();
    for pair in metadata.file_metadata().key_value_metadata().into_iter().flatten() {
        if pair.key == LINK_TRACE {
            let cure = "a link trace, to which a scheme was applied; give the PHY trace \
                        that it was made of";
            return Err(ReadError::of_file(cure));
        }
        found.set(&pair.key, pair.value.as_deref().unwrap_or_default())?;
    }
    Ok(found)
}

/// A column of the file with whole nanoseconds.
struct Column {
    name: &'static str,
    index: usize,
    about: Arc<ColumnDescriptor>,
    unsigned: bool,
}

impl Column {
    fn is_there(schema: &SchemaDescriptor, name: &str) -> bool {
        schema.columns().iter().any(|about| about.path().parts() == [name])
    }

    fn find(schema: &SchemaDescriptor, name: &'static str) -> Result<Self, ReadError> {
        let named = |about: &Arc<ColumnDescriptor>| about.path().parts() == [name];
        let Some(index) = schema.columns().iter().position(named) else {
            let names = schema.columns().iter().map(|about| about.path().parts()[0].as_str());
            let found = names.take(10).collect::<Vec<_>>().join(", ");
            let found = if found.is_empty() { "none".to_owned() } else { found };
            let found = Snippet::new(found.as_bytes());
            let fault = format!("no column `{name}`; a trace has t_ns and d_ns, this has {found}");
            return Err(ReadError::of_file(fault));
        };
        let not_whole = |kind: &str| {
            let cure = "give whole nanoseconds as int64";
            ReadError::of_file(format!("column `{name}` holds {kind}; {cure}"))
        };
        let about = schema.column(index);
        match integer(&about) {
            Ok(unsigned) if about.max_rep_level() == 0 && about.max_def_level() <= 1 => {
                Ok(Self { name, index, about, unsigned })
            }
            Ok(_) => Err(not_whole("lists")),
            Err(kind) => Err(not_whole(&kind)),
        }
    }

    /// Appends the `rows` values of a chunk.
    fn read(
        &self,
        file: &Arc<RandomAccessFile>,
        chunk: &ColumnChunkMetaData,
        rows: usize,
        values: &mut Vec<i64>,
        budget: &Budget<'_>,
    ) -> Result<(), ReadError> {
        check_chunk(chunk, file.len)?;
        let pages =
            SerializedPageReader::new(Arc::clone(file), chunk, rows, None).map_err(damaged)?;
        let mut reader = get_column_reader(Arc::clone(&self.about), Box::new(pages));
        let nullable = self.about.max_def_level() > 0;
        let (mut levels, mut narrow) = (Vec::new(), Vec::new());
        let end = values.len() + rows;
        while values.len() < end {
            budget.ask()?;
            let first = values.len();
            let most = (end - first).min(PART);
            levels.clear();
            let marks = nullable.then_some(&mut levels);
            let (read, present, _) = match &mut reader {
                ColumnReader::Int64ColumnReader(reader) => {
                    reader.read_records(most, marks, None, values).map_err(damaged)?
                }
                ColumnReader::Int32ColumnReader(reader) => {
                    narrow.clear();
                    let read = reader.read_records(most, marks, None, &mut narrow);
                    let wide = |&value: &i32| match self.unsigned {
                        true => i64::from(value as u32),
                        false => i64::from(value),
                    };
                    values.extend(narrow.iter().map(wide));
                    read.map_err(damaged)?
                }
                _ => return Err(damage("its columns are not those of its schema")),
            };
            if present < read {
                let null = levels.iter().position(|&level| level == 0).unwrap_or_default();
                let (name, row) = (self.name, first + null);
                let cure = "is null; give 0 for erased, and no gaps";
                return Err(ReadError::of_file(format!("row {row}: `{name}` {cure}")));
            }
            if read == 0 || values.len() != first + read {
                return Err(damage("a column ends before its last row"));
            }
            let negative = values[first..].iter().position(|&value| value < 0);
            if let (true, Some(row)) = (self.unsigned, negative) {
                let row = first + row;
                let (name, value) = (self.name, values[row] as u64);
                return Err(ReadError::of_file(format!(
                    "row {row}: `{name}` = {value} {TOO_LATE}"
                )));
            }
        }
        Ok(())
    }
}

/// True if the integers of a column are unsigned; an error names its type if it holds no integers.
fn integer(about: &ColumnDescriptor) -> Result<bool, String> {
    let whole = matches!(about.physical_type(), Physical::INT32 | Physical::INT64);
    match about.logical_type_ref() {
        Some(LogicalType::Integer(kind)) if whole => return Ok(!kind.is_signed),
        Some(other) => return Err(lower(&format!("{other:?}"))),
        None => {}
    }
    match about.converted_type() {
        ConvertedType::UINT_8
        | ConvertedType::UINT_16
        | ConvertedType::UINT_32
        | ConvertedType::UINT_64 => Ok(true),
        ConvertedType::NONE
        | ConvertedType::INT_8
        | ConvertedType::INT_16
        | ConvertedType::INT_32
        | ConvertedType::INT_64
            if whole =>
        {
            Ok(false)
        }
        ConvertedType::NONE => Err(lower(&about.physical_type().to_string())),
        other => Err(lower(&other.to_string())),
    }
}

/// Name of a type without its details, in lower case.
fn lower(kind: &str) -> String {
    let name = kind.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
    name.to_ascii_lowercase()
}

/// Checks that a chunk is safe to read: its offsets lie in the file of `len` bytes, and its
/// compression has a bounded size.
fn check_chunk(chunk: &ColumnChunkMetaData, len: u64) -> Result<(), ReadError> {
    let start = chunk.dictionary_page_offset().unwrap_or(chunk.data_page_offset());
    let range = u64::try_from(start).ok().zip(u64::try_from(chunk.compressed_size()).ok());
    if range.and_then(|(start, size)| start.checked_add(size)).is_none_or(|end| end > len) {
        return Err(damage("a column lies outside of the file"));
    }
    match chunk.compression() {
        Compression::UNCOMPRESSED
        | Compression::SNAPPY
        | Compression::ZSTD(_)
        | Compression::LZ4
        | Compression::LZ4_RAW => Ok(()),
        other => {
            let codec = lower(&other.to_string());
            let cure = "write the file with snappy, zstd or lz4";
            Err(ReadError::of_file(format!("compressed with {codec}; {cure}")))
        }
    }
}

fn damage(what: &str) -> ReadError {
    ReadError::File(Fault::damaged(what))
}

/// The error of the parquet crate, in one line.
fn damaged(error: ParquetError) -> ReadError {
    cause(error).map_or_else(|text| damage(&text), ReadError::Io)
}

/// The error of the operating system, if there is one; else the beginning of what the crate says,
/// without control characters.
fn cause(error: ParquetError) -> Result<io::Error, String> {
    let text = match error {
        ParquetError::External(error) => match error.downcast::<io::Error>() {
            Ok(error) => return Ok(*error),
            Err(error) => error.to_string(),
        },
        error => error.to_string(),
    };
    let text = text.strip_prefix("Parquet error: ").unwrap_or(&text);
    Err(text.chars().take(200).map(|c| if c.is_control() { ' ' } else { c }).collect())
}

/// A file with random access.
struct RandomAccessFile {
    source: Mutex<Box<dyn Source>>,
    len: u64,
}

impl RandomAccessFile {
    fn new(mut source: Box<dyn Source>) -> io::Result<Self> {
        let len = source.seek(SeekFrom::End(0))?;
        Ok(Self { source: Mutex::new(source), len })
    }

    /// The footer, which claims no more than it can hold, of a file that starts and ends as Parquet
    /// does.
    fn footer(&self) -> Result<Vec<u8>, ReadError> {
        const MARK: &[u8] = b"PAR1";
        let none = || {
            let cure = "or its end is missing; copy it again or give another format";
            ReadError::of_file(format!("not a Parquet file, {cure}"))
        };
        let Some(at) = self.len.checked_sub(8).filter(|&at| at >= 4) else { return Err(none()) };
        let (start, end) = (self.bytes(0, 4)?, self.bytes(at, 8)?);
        let described = u32::from_le_bytes([end[0], end[1], end[2], end[3]]);
        let whole = &start[..] == MARK && &end[4..] == MARK && u64::from(described) <= at - 4;
        if !whole {
            return Err(none());
        }
        let footer = self.bytes(at - u64::from(described), described as usize)?;
        if claims_too_much(FILE, &footer) { Err(damage(HEADERS)) } else { Ok(footer) }
    }

    fn bytes(&self, start: u64, length: usize) -> io::Result<Vec<u8>> {
        if start.checked_add(length as u64).is_none_or(|end| end > self.len) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut bytes = vec![0; length];
        let mut source = lock(&self.source);
        source.seek(SeekFrom::Start(start))?;
        source.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

/// Bytes of page headers, which end with an error: a damaged list of 2^31 numbers is skipped number
/// by number, also behind the last byte.
struct PageHeaders(Cursor<Vec<u8>>);

impl Read for PageHeaders {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self.0.read(out)? {
            0 if !out.is_empty() => Err(io::ErrorKind::UnexpectedEof.into()),
            read => Ok(read),
        }
    }
}

impl Length for RandomAccessFile {
    fn len(&self) -> u64 {
        self.len
    }
}

impl ChunkReader for RandomAccessFile {
    type T = PageHeaders;

    /// Used for page headers; every header is shorter than the part returned here.
    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        const HEADER: u64 = 1 << 12;
        let length = HEADER.min(self.len.saturating_sub(start));
        let headers = self.bytes(start, length as usize)?;
        if claims_too_much(PAGE, &headers) {
            return Err(ParquetError::General(HEADERS.to_owned()));
        }
        Ok(PageHeaders(Cursor::new(headers)))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Shared, ParquetError> {
        Ok(self.bytes(start, length)?.into())
    }
}

/// Writes a trace in the form that [`read`] accepts.
///
/// # Errors
/// If the writer fails.
pub fn write(phy: &PhyTrace, out: impl Write + Send) -> io::Result<()> {
    let sizes = phy.sizes().column();
    let named = [("t_ns", Some(phy.t())), ("d_ns", Some(phy.d())), ("bytes", sizes)];
    let named: Vec<_> = named.iter().filter_map(|&(name, column)| Some((name, column?))).collect();
    let kinds: Vec<_> = named.iter().map(|&(name, _)| (name, Kind::I64)).collect();
    let mut file = Writer::new(out, &kinds, keys(phy))?;
    for start in (0..phy.len()).step_by(ROW_GROUP) {
        let rows = start..phy.len().min(start + ROW_GROUP);
        let part = named.iter().map(|(_, column)| Values::I64(&column[rows.clone()]));
        file.part(&part.collect::<Vec<_>>())?;
    }
    file.finish()
}

/// Type of a column.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// RandomAccessFile numbers, such as times in nanoseconds.
    I64,
    /// Counts.
    U32,
    /// Floating-point numbers.
    F32,
}

/// Values of a column.
#[derive(Clone, Copy, Debug)]
pub enum Values<'a> {
    /// RandomAccessFile numbers.
    I64(&'a [i64]),
    /// Counts.
    U32(&'a [u32]),
    /// Numbers.
    F32(&'a [f32]),
}

/// Writes a Parquet file in parts; each part is a row group. The file ends with the key `checksum`,
/// the CRC-32 of the other keys and of each column.
///
/// ```
/// use clift::trace::parquet::{Kind, Values, Writer};
/// let mut out = Vec::new();
/// let no_keys: [(&str, String); 0] = [];
/// let mut file = Writer::new(&mut out, &[("t_ns", Kind::I64), ("mi", Kind::F32)], no_keys)?;
/// file.part(&[Values::I64(&[0, 10]), Values::F32(&[0.5, 0.25])])?;
/// file.finish()?;
/// assert!(out.ends_with(b"PAR1"));
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Writer<W: Write + Send> {
    file: SerializedFileWriter<W>,
    sums: Checksums,
}

impl<W: Write + Send> Writer<W> {
    /// A file of `columns` with the pairs `keys` as its metadata.
    ///
    /// # Errors
    /// If the writer fails.
    pub fn new<K: Into<String>>(
        out: W,
        columns: &[(&str, Kind)],
        keys: impl IntoIterator<Item = (K, String)>,
    ) -> io::Result<Self> {
        let mut sums = Checksums::default();
        let keys = keys.into_iter().map(|(key, value)| {
            let key = key.into();
            sums.key(&key, &value);
            KeyValue::new(key, value)
        });
        let keys: Vec<_> = keys.collect();
        sums.header(columns.iter().map(|&(name, _)| name));
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_dictionary_enabled(false)
            .set_statistics_enabled(EnabledStatistics::None)
            .set_offset_index_disabled(true)
            .set_data_page_row_count_limit(ROW_GROUP)
            .set_write_batch_size(1 << 14)
            .set_key_value_metadata(Some(keys));
        let mut fields = Vec::new();
        for &(name, kind) in columns {
            let (physical, logical) = match kind {
                Kind::I64 => (Physical::INT64, None),
                Kind::U32 => (Physical::INT32, Some(LogicalType::integer(32, false))),
                Kind::F32 => (Physical::FLOAT, None),
            };
            if kind != Kind::F32 {
                // Times increase by the same few steps: delta packing is far smaller than plain
                // values.
                properties = properties
                    .set_column_encoding(ColumnPath::from(name), Encoding::DELTA_BINARY_PACKED);
            }
            let field = Type::primitive_type_builder(name, physical)
                .with_repetition(Repetition::REQUIRED)
                .with_logical_type(logical);
            fields.push(Arc::new(field.build().map_err(failed)?));
        }
        let schema = Type::group_type_builder(ROOT).with_fields(fields).build();
        let schema = Arc::new(schema.map_err(failed)?);
        let file = SerializedFileWriter::new(out, schema, Arc::new(properties.build()));
        Ok(Self { file: file.map_err(failed)?, sums })
    }

    /// Appends rows: the values of each column.
    ///
    /// # Errors
    /// If the writer fails, or the values do not match the columns.
    pub fn part(&mut self, columns: &[Values<'_>]) -> io::Result<()> {
        let mut group = self.file.next_row_group().map_err(failed)?;
        for (index, values) in columns.iter().enumerate() {
            let unfit = || io::Error::other("values that do not fit the columns");
            let mut column = group.next_column().map_err(failed)?.ok_or_else(unfit)?;
            match (column.untyped(), values) {
                (ColumnWriter::Int64ColumnWriter(column), Values::I64(values)) => {
                    self.sums.integers(index, values);
                    column.write_batch(values, None, None)
                }
                (ColumnWriter::Int32ColumnWriter(column), Values::U32(values)) => {
                    // As wide as a reader of traces makes them.
                    let wide = values.iter().map(|&value| i64::from(value).to_le_bytes());
                    self.sums.column(index, wide);
                    let same_bits: Vec<i32> = values.iter().map(|&value| value as i32).collect();
                    column.write_batch(&same_bits, None, None)
                }
                (ColumnWriter::FloatColumnWriter(column), Values::F32(values)) => {
                    self.sums.column(index, values.iter().map(|value| value.to_le_bytes()));
                    column.write_batch(values, None, None)
                }
                _ => return Err(unfit()),
            }
            .map_err(failed)?;
            column.close().map_err(failed)?;
        }
        group.close().map(|_| ()).map_err(failed)
    }

    /// Completes the file.
    ///
    /// # Errors
    /// If the writer fails.
    pub fn finish(mut self) -> io::Result<()> {
        let sums = KeyValue::new(Checksums::KEY.to_owned(), self.sums.to_string());
        self.file.append_key_value_metadata(sums);
        self.file.close().map(|_| ()).map_err(failed)
    }
}

fn failed(error: ParquetError) -> io::Error {
    cause(error).unwrap_or_else(io::Error::other)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use proptest::prelude::*;

    use super::*;
    use crate::trace::{Header, Loading, Packing};
    use crate::units::Duration;

    fn read(file: Cursor<Vec<u8>>, lldu: Option<Bytes>) -> Result<PhyTrace, ReadError> {
        super::read(Box::new(file), lldu, &Budget::unlimited())
    }

    fn file(phy: &PhyTrace) -> Vec<u8> {
        let mut file = Vec::new();
        write(phy, &mut file).unwrap();
        file
    }

    fn message(file: Vec<u8>) -> String {
        read(Cursor::new(file), None).unwrap_err().to_string()
    }

    /// A file of one row group: a column of each kind.
    fn columns(columns: &[(&str, Kind, Values<'_>)], keys: &[(&str, &str)]) -> Vec<u8> {
        let mut out = Vec::new();
        let kinds: Vec<_> = columns.iter().map(|&(name, kind, _)| (name, kind)).collect();
        let keys = keys.iter().map(|&(key, value)| (key, value.to_owned()));
        let mut file = Writer::new(&mut out, &kinds, keys).unwrap();
        file.part(&columns.iter().map(|column| column.2).collect::<Vec<_>>()).unwrap();
        file.finish().unwrap();
        out
    }

    /// A page header may say that it holds 2^31 numbers of a kind that readers skip.
    #[test]
    fn numbers_behind_the_page_headers_are_an_error() {
        let mut headers = PageHeaders(Cursor::new(vec![7]));
        let mut eight = [0; 8];
        assert_eq!(headers.read(&mut eight).unwrap(), 1);
        assert_eq!(headers.read(&mut eight).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        let mut damaged =
            file(&PhyTrace::new(vec![0, 10].into(), vec![5, 0].into(), Bytes(40)).unwrap());
        let list = [0x99, 0xf1, 0xff, 0xff, 0xff, 0xff, 0x07];
        damaged[4..11].copy_from_slice(&list);
        assert!(message(damaged).contains(HEADERS));
    }

    #[test]
    fn faults_are_one_line() {
        use Kind::{F32, I64, U32};
        let t = ("t_ns", I64, Values::I64(&[0, 10]));
        let d = ("d_ns", U32, Values::U32(&[5, u32::MAX]));
        let read_back = read(Cursor::new(columns(&[d, t], &[])), None).unwrap();
        assert_eq!(read_back.d()[..], [5, i64::from(u32::MAX)]);
        let cases = [
            (columns(&[t], &[]), "no column `d_ns`; a trace has t_ns and d_ns, this has `t_ns`"),
            (
                columns(&[t, ("d_ns", F32, Values::F32(&[0.0, 1.0]))], &[]),
                "column `d_ns` holds float; give whole nanoseconds as int64",
            ),
            (columns(&[t, d], &[("decode_ns", "soon")]), "`soon` is not valid for decode_ns"),
            (columns(&[t, d], &[("clift-trace", "2")]), "format version `2` is not known"),
            (
                columns(&[("t_ns", I64, Values::I64(&[7, 7])), d], &[]),
                "slot 1: t = 7 ns does not come after",
            ),
            (b"PAR1".to_vec(), "not a Parquet file, or its end is missing"),
            (b"t_ns,d_ns\n0,5\n10,0\n".to_vec(), "not a Parquet file"),
        ];
        for (file, expected) in cases {
            let message = message(file);
            assert!(message.starts_with(expected), "{message}");
            assert!(!message.contains('\n'));
        }
    }

    #[test]
    fn more_rows_than_a_file_can_hold_are_refused() {
        // The footer stores the number of rows as a varint: 100 becomes 2^31 or more.
        let phy = PhyTrace::new((0..100).collect::<Vec<_>>().into(), vec![1; 100].into(), Bytes(9));
        let whole = file(&phy.unwrap());
        let hundred: Vec<usize> = (whole.len() / 2..whole.len() - 8)
            .filter(|&at| whole[at..].starts_with(&[0xc8, 1]))
            .collect();
        assert!(!hundred.is_empty());
        for at in hundred {
            let mut claimed = whole.clone();
            claimed.splice(at..at + 2, [0x80, 0x80, 0x80, 0x80, 0x20]);
            let end = claimed.len() - 8;
            let described = u32::from_le_bytes(claimed[end..end + 4].try_into().unwrap()) + 3;
            claimed[end..end + 4].copy_from_slice(&described.to_le_bytes());
            // Where the changed number is not the row count of the group, it has no effect.
            if let Err(error) = read(Cursor::new(claimed), None) {
                assert!(!error.to_string().contains('\n'), "{error}");
            }
        }
    }

    #[test]
    fn a_truncated_or_damaged_file_is_reported() {
        let t: Vec<i64> = (0..3000).map(|slot| slot * slot).collect();
        let header = Header { rtt: Some(Duration::from_nanos(500)), ..Header::default() };
        let d = vec![5; 3000].into();
        let phy = PhyTrace::with_header(t.into(), d, Bytes(34), header).unwrap();
        let whole = file(&phy);
        for end in [0, 3, 100, whole.len() - 9, whole.len() - 1] {
            assert!(message(whole[..end].to_vec()).starts_with("not a Parquet file"));
        }
        // Changes every byte in a few ways: the result is a one-line error or the same trace, never
        // a panic or another trace.
        for at in 0..whole.len() {
            for flip in [1, 0x80, 0xff] {
                let mut hurt = whole.clone();
                hurt[at] ^= flip;
                match read(Cursor::new(hurt), None) {
                    Err(error) => assert!(!error.to_string().contains('\n'), "byte {at}: {error}"),
                    Ok(other) => {
                        let [other, phy] =
                            [&other, &phy].map(|it| (it.t(), it.d(), it.sizes(), it.header()));
                        assert_eq!(other, phy, "byte {at}");
                    }
                }
            }
        }
    }

    proptest! {
        #[test]
        fn written_traces_read_back_unchanged(
            gaps in proptest::collection::vec((1i64..1 << 50, 0i64..1 << 60, 1i64..1 << 32), 1..50),
            differ in any::<bool>(),
            lldu in 1u32..,
            rtt in proptest::option::of(0u64..1 << 61),
            description in proptest::option::of("[ -~\u{e9}\n]{1,20}"),
        ) {
            let t = gaps.iter().scan(-1, |t, gap| { *t += gap.0; Some(*t) }).collect::<Vec<_>>();
            let d = gaps.iter().map(|gap| gap.1).collect::<Vec<_>>();
            let rtt = rtt.map(Duration::from_nanos);
            let loading = Loading {
                packing: [None, Some(Packing::Packet), Some(Packing::Bytes)][lldu as usize % 3],
                packet_header: Bytes(lldu % 7),
                tick: Duration::from_nanos(u64::from(lldu)),
                phase: Duration::from_nanos(u64::from(lldu / 2)),
            };
            let header = Header { description, rtt, loading, ..Header::default() };
            let sizes = gaps.iter().map(|gap| gap.2).collect::<Vec<_>>();
            let sizes = if differ { Sizes::each(sizes.into()).unwrap() } else { Bytes(lldu).into() };
            let phy = PhyTrace::with_header(t.into(), d.into(), sizes, header).unwrap();
            let back = read(Cursor::new(file(&phy)), None).unwrap();
            prop_assert_eq!(back.t(), phy.t());
            prop_assert_eq!(back.d(), phy.d());
            prop_assert_eq!(back.sizes(), phy.sizes());
            prop_assert_eq!(back.header(), phy.header());
        }
    }
}
