package interop;

import com.fasterxml.jackson.databind.JsonNode;

import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;

/** Headers of records as pairs: a name, and bytes in base 64. */
final class HeadersJson {
    private HeadersJson() {
    }

    static Header[] read(JsonNode pairs) throws Exception {
        Header[] headers = new Header[pairs.size()];
        for (int index = 0; index < headers.length; index++) {
            JsonNode pair = pairs.get(index);
            headers[index] = new RecordHeader(pair.get(0).asText(), pair.get(1).binaryValue());
        }
        return headers;
    }
}
