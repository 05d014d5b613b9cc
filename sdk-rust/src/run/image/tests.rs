//! What becomes an image, and what is said of what does not.

use super::*;

const GIF: &[u8] = b"GIF89a\x01\0\x01\0";

#[test]
fn an_image_of_bytes_has_its_media_type_by_itself() {
    let part = image(GIF).unwrap();
    assert_eq!(part, Part::Image { media_type: "image/gif".to_owned(), data: STANDARD.encode(GIF) });
    let refused = image(b"<svg/>").unwrap_err().to_string();
    assert_eq!(refused, "The data cannot be sent as an image: it is no PNG, JPEG, GIF or WebP.");
    let mut large = GIF.to_vec();
    large.resize(5_242_881, 0);
    assert!(image(&large).unwrap_err().to_string().contains("5242881 bytes, and at most 5242880"));
    large.pop();
    assert!(image(&large).is_ok());
}

#[tokio::test]
async fn an_image_of_a_file_names_the_file_when_it_cannot_be_sent() {
    let missing = image_file("/nowhere/cat.png").await.unwrap_err().to_string();
    assert!(missing.starts_with("/nowhere/cat.png cannot be sent as an image: it cannot be read: "), "{missing}");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    assert!(image_file(source).await.unwrap_err().to_string().contains("no PNG"));
}
